import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { csvOf } from '../support/sample-tree.js'
import {
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  OPEN_WEEK,
  START_DATES,
  treeRows,
  weekPath,
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

  it('only the windows of the range', async () => {
    const { requested } = await startService()
    const [, second, third] = FULL_WEEKS
    const paths = [second, third].map(date => weekPath('BTCUSDT', date))
    expect(await requested('--from', second, '--to', '2025-01-20T00:15')).toEqual([...paths, LIST])
    // All of them are final.
    expect(await requested('--from', second, '--to', '2025-01-20')).toEqual([])
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
