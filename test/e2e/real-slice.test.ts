import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { ALL_INTERVALS, HEADER } from '../support/sample-tree.js'
import { TreeServer } from '../support/servers/tree-server.js'

const newSandbox = useSandboxes()
const SYMBOLS = ['BTCUSDT', 'ADAUSDT', 'DOTUSDT']
const SERIES = SYMBOLS.flatMap(symbol => ALL_INTERVALS.map(interval => ({ symbol, interval })))
const PRICES = ['open', 'high', 'low', 'close', 'volume', 'quote_volume', 'taker_buy_volume', 'taker_buy_quote_volume']
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
function openWindows(root: string): string[] {
  return SERIES.flatMap(({ symbol, interval }) => {
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

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The hash of each file in a folder of a sandbox, by name. */
function hashes(sandbox: CliSandbox, folder: string): Record<string, string> {
  return Object.fromEntries(sandbox.files(folder).map(name => [name, sha256(sandbox.bytes(`${folder}/${name}`))]))
}

async function parquetFacts(connection: DuckDBConnection, file: string): Promise<unknown> {
  const sql = `select count(*)::int as rows, epoch_ms(min(open_time))::double as "firstOpenTime",
    epoch_ms(max(open_time))::double as "lastOpenTime", sum(count)::double as trades,
    sum(volume)::varchar as volume, sum(quote_volume)::varchar as "quoteVolume" from '${file}'`
  return (await connection.runAndReadAll(sql)).getRowObjectsJson()[0]
}

describe.skipIf(!hasRealTree)('the real tree (skipped without ../shared/data)', () => {
  it('keeps every digit through download, export, Parquet and a second run', async () => {
    const sandbox = newSandbox()
    const root = realTree()
    const server = await TreeServer.start(root)
    const expected = expectedSeries()
    const hashesExpected = Object.fromEntries(
      SERIES.map(({ symbol, interval }) => [`${symbol}-${interval}.csv`, expected[symbol][interval].csvSha256]),
    )
    const series = [...SYMBOLS, '-i', 'all']
    const location = ['--base-url', server.url, '--mirror', 'm']
    await sandbox.shell('mkdir one two three parquet double')

    const first = await sandbox.call(['download', ...series, ...location, '-o', 'one/{symbol}-{interval}.csv'])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(hashes(sandbox, 'one')).toEqual(hashesExpected)

    server.reset()
    const second = await sandbox.call(['download', ...series, ...location, '-o', 'two/{symbol}-{interval}.csv'])
    expect(second).toMatchObject({ code: 0, stderr: '' })
    expect(server.paths('windows').sort()).toEqual(openWindows(root).sort())
    expect(server.log.every(({ status, path }) => status === 304 || !server.paths('windows').includes(path))).toBe(true)
    expect(hashes(sandbox, 'two')).toEqual(hashesExpected)

    await server.stop()
    const offline = ['export', ...series, '--mirror', 'm', '-q']
    const runs = await Promise.all([
      sandbox.call([...offline, '-o', 'three/{symbol}-{interval}.csv']),
      sandbox.call([...offline, '-o', 'parquet/{symbol}-{interval}.parquet', '--numbers', 'decimal']),
    ])
    runs.push(
      await sandbox.call([...offline, '-f', 'parquet', '-o', 'double/{symbol}-{interval}', '--numbers', 'double']),
    )
    for (const run of runs) expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(hashes(sandbox, 'three')).toEqual(hashesExpected)

    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    for (const { symbol, interval } of SERIES) {
      const name = `${symbol}-${interval}`
      const { rows, firstOpenTime, lastOpenTime, trades, volume, quoteVolume } = expected[symbol][interval]
      const facts = { rows, firstOpenTime, lastOpenTime, trades, volume, quoteVolume }
      expect(await parquetFacts(connection, sandbox.path(`parquet/${name}.parquet`)), name).toEqual(facts)
      const equal = PRICES.map(column => `p.${column} = t.${column}::double`).join(' and ')
      const same = `select count(*)::int from read_parquet('${sandbox.path(`double/${name}`)}') p
        join read_csv('${sandbox.path(`one/${name}.csv`)}', all_varchar = true) t
        on epoch_ms(p.open_time) = t.open_time::bigint
        where ${equal} and p.count = t.count::bigint and epoch_ms(p.close_time) = t.close_time::bigint`
      expect((await connection.runAndReadAll(same)).getRows(), name).toEqual([[rows]])
    }
    connection.closeSync()
    expect(sandbox.text(`one/${SYMBOLS[0]}-1M.csv`).split('\n', 1)).toEqual([HEADER])
  })
})
