import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer, stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { FULL_WEEKS, SYMBOLS, weekPath } from '../support/synthetic-tree.js'

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
    ['--retries 0', {}, 1],
    ['--retries 1', {}, 2],
    ['', { KLINES_RETRIES: '1' }, 2],
    ['--retries 0', { KLINES_RETRIES: '5' }, 1],
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

  it('0 is one try of a window too, and of a response that is not valid', async () => {
    const { server, download } = await setUp()
    server.always(WINDOW, { body: '[[1' })
    expect(await download('--retries 0')).toMatchObject({ code: 3 })
    expect(server.paths().filter(path => path === WINDOW)).toHaveLength(1)
  })

  it('is a flag of the lists and of serve --upstream', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    server.always(LIST, { status: 503 })
    const source = ['--base-url', server.url, '--mirror', 'm', '--retries', '0']
    expect(await sandbox.call(['start-dates', '15m', ...source])).toMatchObject({ code: 0 })
    expect(server.paths().filter(path => path === LIST)).toHaveLength(1)
    sandbox.write(`m/${WINDOW}`, '[[1')
    server.always(WINDOW, { status: 500 })
    const serve = await startServeCommand(sandbox, ['--upstream', ...source])
    expect((await fetch(`${serve.url}/${WINDOW}`)).status).toBe(502)
    await serve.stop()
    expect(server.paths().filter(path => path === WINDOW)).toHaveLength(1)
  })
})

describe('--timeout', () => {
  it.each([
    ['--timeout 0.2 --retries 1', {}],
    ['', { KLINES_TIMEOUT: '0.2', KLINES_RETRIES: '1' }],
  ])('%s (%j) ends a try', async (flags, env) => {
    const { server, download } = await setUp()
    server.hold = () => new Promise<void>(() => {})
    const run = await download(flags, env)
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toContain('did not answer in time: no whole answer within 0.2 s; tried 2 times')
    expect(server.paths()).toEqual([LIST, LIST])
  })
})

describe('a pattern of symbols', () => {
  it('is what the service lists, or the mirror has', async () => {
    const { sandbox, server } = await stockedSandbox(newSandbox())
    const json = async (...args: string[]) =>
      JSON.parse((await sandbox.call([...args, '--mirror', 'm', '--json'])).stdout)
    const symbols = ({ series }: { series: { symbol: string }[] }) => [...new Set(series.map(({ symbol }) => symbol))]
    expect(symbols(await json('download', 'b*', '-i', '15m', '--base-url', server.url))).toEqual(['BTCUSDT'])
    expect(symbols(await json('stats', '*USDT', '-i', '15m'))).toEqual(SYMBOLS)
    expect(symbols(await json('verify', '?TH*', '-i', 'all'))).toEqual(['ETHUSDT'])
    expect(symbols(await json('export', 'ETHUSDT', '*', '-i', '15m', '-o', '{symbol}.csv'))).toEqual([
      'ETHUSDT',
      'BTCUSDT',
    ])
    const stats = await sandbox.call(['stats', '*USDT', 'DOTUSDT', '-i', '15m', '--mirror', 'm'])
    expect(stats).toMatchObject({ code: 3, stdout: '' })
    expect(stats.stderr).toContain('DOTUSDT 15m')
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
