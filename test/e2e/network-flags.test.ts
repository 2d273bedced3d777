import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { FULL_WEEKS, weekPath } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const LIST = 'api/klines/start-dates/15m.json'
const WINDOW = weekPath('BTCUSDT', FULL_WEEKS[1])

/** A tree server, and a download of one series from it with more flags. */
async function setUp() {
  const sandbox = newSandbox()
  const server = await startTreeServer(sandbox)
  const args = ['download', 'BTCUSDT', '-i', '15m', '--base-url', server.url, '--mirror', 'm']
  const download = (flags = '', env = {}) => sandbox.call([...args, ...flags.split(' ').filter(Boolean)], env)
  return { sandbox, server, download }
}

describe('--retries', () => {
  it.each([
    ['--retries 1', {}, 2],
    ['', { KLINES_RETRIES: '1' }, 2],
  ])('%s (%j) tries a file %3$d times', async (flags, env, tries) => {
    const { sandbox, server, download } = await setUp()
    server.always(LIST, { status: 503 })
    const run = await download(flags, env)
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toContain(`The service at ${server.url} answered 503 (Service Unavailable)`)
    expect(run.stderr).toMatch(/^ {2}Try again later/m)
    expect(server.paths()).toEqual(Array(tries).fill(LIST))
    expect(sandbox.exists('m')).toBe(false)
  })
})

describe('--timeout', () => {
  it.each([['', { KLINES_TIMEOUT: '0.2', KLINES_RETRIES: '1' }]])('%s (%j) ends a try', async (flags, env) => {
    const { server, download } = await setUp()
    server.hold = () => new Promise<void>(() => {})
    const run = await download(flags, env)
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toContain('cannot be reached: no whole answer within 0.2 s; tried 2 times')
    expect(server.paths()).toEqual([LIST, LIST])
  })
})

describe('missing folders of an output', () => {
  it('are made', async () => {
    const { sandbox, download } = await setUp()
    expect(await download('-o a/{symbol}/{interval}.csv')).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.files('a')).toEqual(['BTCUSDT/15m.csv'])
  })

  it('are not made in a dry run, and not left behind after a failure', async () => {
    const { sandbox, server, download } = await setUp()
    expect(await download('-o a/b/x.csv --dry-run')).toMatchObject({ code: 0 })
    expect(sandbox.exists('a')).toBe(false)
    server.always(WINDOW, { status: 404 })
    expect(await download('-o a/b/x.csv')).toMatchObject({ code: 3 })
    expect(sandbox.exists('a')).toBe(false)
  })
})
