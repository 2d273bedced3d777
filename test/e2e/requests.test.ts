import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { csvOf } from '../support/sample-tree.js'
import { FULL_WEEKS, FUTURE_WEEK, OPEN_WEEK, START_DATES, treeRows, weekPath } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const LIST = 'api/klines/start-dates/15m.json'
const DOWNLOAD = ['download', 'BTCUSDT', '-i', '15m', '--mirror', 'm']
const allWindows = (symbol: string) => START_DATES.map(date => weekPath(symbol, date))

/** A server of the synthetic tree, and the command that downloads from it. */
async function startService() {
  const sandbox = newSandbox()
  const server = await startTreeServer(sandbox)
  const download = (args: readonly string[], env = {}) =>
    sandbox.call([...DOWNLOAD, '--base-url', server.url, ...args], env)
  /** Downloads, and returns the requested paths. */
  const requested = async (...args: string[]) => {
    server.reset()
    expect(await download(args)).toMatchObject({ code: 0, stderr: '' })
    return server.paths().sort()
  }
  return { server, sandbox, download, requested }
}

describe('a download requests', () => {
  it('every window at first; then the list and the windows that are not final, if they changed; an export none', async () => {
    const { server, sandbox, download, requested } = await startService()
    const { stdout } = await download(['--dry-run', '-o', 'x.csv', '--json'])
    expect(JSON.parse(stdout).series).toEqual([
      { symbol: 'BTCUSDT', interval: '15m', windows: { total: 8, cached: 0, stale: 0, missing: 8 } },
    ])
    expect([server.paths(), sandbox.files()]).toEqual([[LIST], []])
    expect(await requested('-o', 'first.csv')).toEqual([...allWindows('BTCUSDT'), LIST].sort())
    expect(sandbox.text('first.csv')).toBe(csvOf([...treeRows('BTCUSDT').values()].flat()))
    const open = [OPEN_WEEK, FUTURE_WEEK].map(date => weekPath('BTCUSDT', date))
    expect(await requested('-o', 'second.csv')).toEqual([...open, LIST])
    expect(server.log.filter(({ path }) => path !== LIST).map(({ status }) => status)).toEqual([304, 304])
    expect(sandbox.bytes('second.csv').equals(sandbox.bytes('first.csv'))).toBe(true)
    const dry = await download(['--dry-run', '--json'])
    expect(JSON.parse(dry.stdout).series[0].windows).toEqual({ total: 8, cached: 6, stale: 2, missing: 0 })
    expect((await download(['--dry-run'])).stdout).toContain('\nDry run: 2 windows would be requested; nothing was ')
    await server.stop()
    expect(await sandbox.call(['export', ...DOWNLOAD.slice(1), '-o', 'third.csv'])).toMatchObject({ code: 0 })
    expect(sandbox.bytes('third.csv').equals(sandbox.bytes('first.csv'))).toBe(true)
  })

  it('only the windows of the range', async () => {
    const { requested } = await startService()
    const [, second, third] = FULL_WEEKS
    const paths = [second, third].map(date => weekPath('BTCUSDT', date))
    expect(await requested('--from', second, '--to', '2025-01-20T00:15')).toEqual([...paths, LIST])
    // All of them are final.
    expect(await requested('--from', second, '--to', '2025-01-20')).toEqual([])
  })
})

describe('--retries', () => {
  it.each([
    [['--retries', '1'], {}],
    [[], { KLINES_RETRIES: '1' }],
  ])('%j (%j) is a second try', async (flags, env) => {
    const { sandbox, server, download } = await startService()
    server.always(LIST, { status: 503 })
    const run = await download(flags, env)
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toContain(`The service at ${server.url} answered 503 (Service Unavailable)`)
    expect(run.stderr).toMatch(/^ {2}Try again later/m)
    expect(server.paths()).toEqual([LIST, LIST])
    expect(sandbox.exists('m')).toBe(false)
  })
})

it('KLINES_TIMEOUT ends a try', async () => {
  const { server, download } = await startService()
  server.hold = () => new Promise<void>(() => {})
  const run = await download([], { KLINES_TIMEOUT: '0.2', KLINES_RETRIES: '1' })
  expect(run).toMatchObject({ code: 5, stdout: '' })
  expect(run.stderr).toContain('cannot be reached: no whole answer within 0.2 s; tried 2 times')
  expect(server.paths()).toEqual([LIST, LIST])
})

it('missing folders of an output are not made in a dry run, not left behind after a failure, and made', async () => {
  const { sandbox, server, download } = await startService()
  const output = ['-o', 'a/{symbol}/{interval}.csv']
  expect(await download([...output, '--dry-run'])).toMatchObject({ code: 0 })
  expect(sandbox.exists('a')).toBe(false)
  server.always(weekPath('BTCUSDT', FULL_WEEKS[1]), { status: 404 })
  expect(await download(output)).toMatchObject({ code: 3 })
  expect(sandbox.exists('a')).toBe(false)
  server.reset()
  expect(await download(output)).toMatchObject({ code: 0, stderr: '' })
  expect(sandbox.files('a')).toEqual(['BTCUSDT/15m.csv'])
})
