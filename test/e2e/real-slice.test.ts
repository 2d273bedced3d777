import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { ALL_INTERVALS } from '../support/sample-tree.js'
import { TreeServer } from '../support/servers/tree-server.js'

const newSandbox = useSandboxes()
const SYMBOLS = ['BTCUSDT', 'ADAUSDT', 'DOTUSDT']
const SERIES = SYMBOLS.flatMap(symbol => ALL_INTERVALS.map(interval => ({ symbol, interval })))
const MINUTES = { m: 1, h: 60, d: 1440, w: 10080 }

/** The open time of the next candle, ms UTC. */
function nextOpen(interval: string, openTime: number): number {
  if (interval === '1M') return new Date(openTime).setUTCMonth(new Date(openTime).getUTCMonth() + 1)
  return openTime + Number.parseInt(interval, 10) * MINUTES[interval.at(-1) as keyof typeof MINUTES] * 60_000
}

/**
 * The windows that a second run has to request: those that have started and are not final. A window is final when its last
 * candle reaches the start of the next window, or when a later window of the series has candles.
 */
function openWindows(root: string, symbol: string): string[] {
  return ALL_INTERVALS.flatMap(interval => {
    const starts: string[] = JSON.parse(readFileSync(`${root}/api/klines/start-dates/${interval}.json`, 'utf8'))
    const folder = `api/klines/${interval}/${symbol}`
    expect(readdirSync(`${root}/${folder}`)).toHaveLength(starts.length)
    const lastOpens = starts.map(date => JSON.parse(readFileSync(`${root}/${folder}/${date}.json`, 'utf8')).at(-1)?.[0])
    const populated = lastOpens.findLastIndex(time => time !== undefined)
    const open = starts.filter((date, index) => {
      const end = Date.parse(starts[index + 1] ?? '9999-01-01')
      const full = lastOpens[index] !== undefined && nextOpen(interval, lastOpens[index]) >= end
      return Date.parse(date) <= Date.now() && !full && index >= populated
    })
    return open.map(date => `${folder}/${date}.json`)
  })
}

/** The hash of each CSV file in `csv`, by name. */
function hashes(sandbox: CliSandbox): Record<string, string> {
  const hash = (name: string) =>
    createHash('sha256')
      .update(sandbox.bytes(`csv/${name}`))
      .digest('hex')
  return Object.fromEntries(sandbox.files('csv').map(name => [name, hash(name)]))
}

async function parquetFacts(connection: DuckDBConnection, file: string): Promise<unknown> {
  const sql = `select count(*)::int as rows, epoch_ms(min(open_time))::double as "firstOpenTime",
    epoch_ms(max(open_time))::double as "lastOpenTime", sum(count)::double as trades,
    sum(volume)::varchar as volume, sum(quote_volume)::varchar as "quoteVolume" from '${file}'`
  return (await connection.runAndReadAll(sql)).getRowObjectsJson()[0]
}

it.skipIf(!hasRealTree)('the real tree keeps every digit (skipped without ../shared/data)', async () => {
  const sandbox = newSandbox()
  const root = realTree()
  const server = await TreeServer.start(root)
  const expected = expectedSeries()
  const location = ['--base-url', server.url, '--mirror', 'm']
  const download = ['download', 'DOTUSDT', '-i', 'all', ...location, '-q']
  expect(await sandbox.call(download)).toMatchObject({ code: 0, stderr: '' })
  server.reset()
  expect(await sandbox.call(download)).toMatchObject({ code: 0, stderr: '' })
  expect(server.paths('windows').sort()).toEqual(openWindows(root, 'DOTUSDT').sort())
  const revalidated = server.log.filter(({ path }) => server.paths('windows').includes(path))
  expect(revalidated.every(({ status }) => status === 304)).toBe(true)

  const csv = ['export', ...SYMBOLS, '-i', 'all', '--mirror', root, '-q', '-o', 'csv/{symbol}-{interval}.csv']
  expect(await sandbox.call(csv)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  const facts = SERIES.map(({ symbol, interval }) => [
    `${symbol}-${interval}.csv`,
    expected[symbol][interval].csvSha256,
  ])
  expect(hashes(sandbox)).toEqual(Object.fromEntries(facts))

  const parquet = ['export', 'DOTUSDT', '-i', 'all', '--mirror', 'm', '-q', '-o', 'p/{interval}.parquet']
  expect(await sandbox.call([...parquet, '--numbers', 'decimal'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  for (const interval of ALL_INTERVALS) {
    const { rows, firstOpenTime, lastOpenTime, trades, volume, quoteVolume } = expected.DOTUSDT[interval]
    const all = { rows, firstOpenTime, lastOpenTime, trades, volume, quoteVolume }
    expect(await parquetFacts(connection, sandbox.path(`p/${interval}.parquet`)), interval).toEqual(all)
  }
  connection.closeSync()
})
