import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { csvOf } from '../support/sample-tree.js'
import {
  EMPTY_WEEK,
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  OPEN_WEEK,
  putFile,
  START_DATES,
  SYMBOLS,
  treeRows,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const LIST = 'api/klines/start-dates/15m.json'
const DOWNLOAD = ['download', 'BTCUSDT', '-i', '15m', '--mirror', 'm']
const allWindows = (symbol: string) => START_DATES.map(date => weekPath(symbol, date))

/** A server of the synthetic tree, and the command that downloads from it. */
async function startService() {
  const root = makeTree(tempFolder())
  const sandbox = newSandbox()
  const server = await startTreeServer(sandbox, root)
  const download = (...args: string[]) => sandbox.call([...DOWNLOAD, '--base-url', server.url, ...args])
  /** Downloads, and returns the requested paths. */
  const requested = async (...args: string[]) => {
    server.reset()
    expect(await download(...args)).toMatchObject({ code: 0, stderr: '' })
    return server.paths().sort()
  }
  return { root, server, sandbox, download, requested }
}

describe('a download requests', () => {
  it('every window at first; then the list and the windows that are not final, if they changed', async () => {
    const { server, sandbox, requested } = await startService()
    expect(await requested('-o', 'first.csv')).toEqual([...allWindows('BTCUSDT'), LIST].sort())
    expect(sandbox.text('first.csv')).toBe(csvOf([...treeRows('BTCUSDT').values()].flat()))
    const open = [OPEN_WEEK, FUTURE_WEEK].map(date => weekPath('BTCUSDT', date))
    expect(await requested('-o', 'second.csv')).toEqual([...open, LIST])
    expect(server.log.filter(({ path }) => path !== LIST).map(({ status }) => status)).toEqual([304, 304])
    expect(sandbox.bytes('second.csv').equals(sandbox.bytes('first.csv'))).toBe(true)
  })

  it('candles that the service added since the last run', async () => {
    const { root, sandbox, requested } = await startService()
    await requested()
    putFile(root, weekPath('BTCUSDT', OPEN_WEEK), weekRows(OPEN_WEEK), Date.UTC(2025, 1, 17, 3))
    await requested('-o', 'after.csv')
    const rows = new Map<string, unknown[]>(treeRows('BTCUSDT')).set(OPEN_WEEK, weekRows(OPEN_WEEK))
    expect(sandbox.text('after.csv')).toBe(csvOf([...rows.values()].flat() as never))
  })

  it('only the windows of the range', async () => {
    const { requested } = await startService()
    const [, second, third] = FULL_WEEKS
    const paths = [second, third].map(date => weekPath('BTCUSDT', date))
    expect(await requested('--from', second, '--to', '2025-01-20T00:15')).toEqual([...paths, LIST])
    // All of them are final.
    expect(await requested('--from', second, '--to', '2025-01-20')).toEqual([])
  })

  it('with --refresh, final windows too, unconditionally', async () => {
    const { server, requested } = await startService()
    await requested()
    expect(await requested('--refresh')).toEqual([...allWindows('BTCUSDT'), LIST].sort())
    const windows = server.log.filter(({ path }) => path !== LIST)
    expect(windows.map(({ status }) => status)).toEqual(windows.map(() => 200))
  })

  it('with --refresh, restated candles are counted and exported', async () => {
    const { root, sandbox, requested, download } = await startService()
    await requested()
    const changed = weekRows(FULL_WEEKS[0], { seed: 5 })
    putFile(root, weekPath('BTCUSDT', FULL_WEEKS[0]), changed)
    expect(JSON.parse((await download('--json')).stdout)).toMatchObject({ series: [{ restated: 0 }] })
    const run = await download('--refresh', '--json', '-o', 'new.csv')
    expect(JSON.parse(run.stdout)).toMatchObject({ series: [{ restated: changed.length, windows: { fetched: 8 } }] })
    const rows = new Map(treeRows('BTCUSDT')).set(FULL_WEEKS[0], changed)
    expect(sandbox.text('new.csv')).toBe(csvOf([...rows.values()].flat()))
  })

  it('a window that lost candles, which does not replace the cached one', async () => {
    const { root, sandbox, download, requested } = await startService()
    await requested()
    putFile(root, weekPath('BTCUSDT', FULL_WEEKS[0]), weekRows(FULL_WEEKS[0], { days: 3 }))
    const run = await download('--refresh', '-o', 'x.csv')
    expect(run.code).toBe(0)
    expect(run.stderr).toMatch(new RegExp(`Note: BTCUSDT 15m ${FULL_WEEKS[0]}.*5 cached candles`))
    expect(sandbox.text('x.csv')).toBe(csvOf([...treeRows('BTCUSDT').values()].flat()))
  })

  it('whole files: the mirror has the bytes of the service', async () => {
    const { root, sandbox, requested } = await startService()
    await requested()
    for (const path of [...allWindows('BTCUSDT'), LIST]) {
      expect(sandbox.bytes(`m/${path}`).equals(readFileSync(`${root}/${path}`)), path).toBe(true)
    }
  })
})

describe('--dry-run', () => {
  it('requests only the lists, writes nothing, and describes what a run would do', async () => {
    const { server, sandbox } = await startService()
    const args = [...DOWNLOAD, '--base-url', server.url, '--dry-run', '-o', 'x.csv', '--json']
    const run = await sandbox.call(args)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(run.stdout).series).toEqual([
      { symbol: 'BTCUSDT', interval: '15m', windows: { total: 8, cached: 0, stale: 0, missing: 8 } },
    ])
    expect(server.paths()).toEqual([LIST])
    expect(sandbox.files()).toEqual([])
  })

  it('of all symbols requests the list of symbols too', async () => {
    const { server, sandbox } = await startService()
    const run = await sandbox.call(['download', 'all', '-i', '15m', '--base-url', server.url, '--dry-run'])
    expect(run.code).toBe(0)
    expect(run.stderr).toMatch(/^Note: Not listed by the service, so not part of "all": BNBUSDT, SOLUSDT, .+\n$/)
    for (const symbol of SYMBOLS) expect(run.stdout).toContain(symbol)
    expect(run.stdout).toContain('16 windows')
    expect(server.paths().sort()).toEqual([LIST, 'api/klines/symbols.json'])
    expect(sandbox.files()).toEqual([])
  })

  it('counts windows that are cached, stale and missing', async () => {
    const { sandbox, download, requested } = await startService()
    await requested()
    await sandbox.shell(`rm m/${weekPath('BTCUSDT', EMPTY_WEEK)}`)
    const before = sandbox.files()
    const run = await download('--dry-run', '--json')
    expect(JSON.parse(run.stdout).series[0].windows).toEqual({
      total: 8,
      cached: 5,
      stale: 2,
      missing: 1,
    })
    expect(sandbox.files()).toEqual(before)
  })
})

describe('an export from the mirror', () => {
  it('makes no request and writes the same bytes as the download', async () => {
    const { server, sandbox, requested } = await startService()
    await requested('-o', 'online.parquet')
    const args = ['export', 'BTCUSDT', '-i', '15m', '--mirror', 'm', '--base-url', server.url, '-o', 'offline.parquet']
    await server.stop()
    expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    expect(sandbox.bytes('offline.parquet').equals(sandbox.bytes('online.parquet'))).toBe(true)
  })
})
