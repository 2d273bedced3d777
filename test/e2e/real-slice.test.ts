import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { nextOpenTime } from '../support/exchange/market.js'
import { filesBelow } from '../support/files-below.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { ALL_INTERVALS } from '../support/sample-tree.js'
import { startTestServer } from '../support/servers/test-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { serveUpstream } from '../support/servers/upstream-setup.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
/** Of the symbols with more candles some intervals are enough. */
const SOME_INTERVALS = ['1h', '1d', '1M']
const FROM_HOUR = ALL_INTERVALS.slice(ALL_INTERVALS.indexOf('1h'))
const SERIES = [
  ...ALL_INTERVALS.map(interval => ['DOTUSDT', interval]),
  ...['BTCUSDT', 'ADAUSDT'].flatMap(symbol => SOME_INTERVALS.map(interval => [symbol, interval])),
]

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
      const full = lastOpens[index] !== undefined && nextOpenTime(interval, lastOpens[index]) >= end
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

const CHAINED = ['12h', '3d', '1M']

describe.skipIf(!hasRealTree)('the real tree (skipped without ../shared/data)', () => {
  it('keeps every digit', async () => {
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

    const csv = ['--mirror', root, '-q', '-o', 'csv/{symbol}-{interval}.csv']
    const silent = { code: 0, stdout: '', stderr: '' }
    for (const series of ['DOTUSDT -i all', `BTCUSDT ADAUSDT -i ${SOME_INTERVALS}`])
      expect(await sandbox.call(['export', ...series.split(' '), ...csv])).toMatchObject(silent)
    const facts = SERIES.map(([name, interval]) => [`${name}-${interval}.csv`, expected[name][interval].csvSha256])
    expect(hashes(sandbox)).toEqual(Object.fromEntries(facts))

    const parquet = ['export', 'DOTUSDT', '-i', FROM_HOUR.join(), '--mirror', 'm', '-q', '-o', 'p/{interval}.parquet']
    expect(await sandbox.call([...parquet, '--numbers', 'decimal'])).toMatchObject(silent)
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    for (const interval of FROM_HOUR) {
      const { rows, firstOpenTime, lastOpenTime, trades, volume, quoteVolume } = expected.DOTUSDT[interval]
      const all = { rows, firstOpenTime, lastOpenTime, trades, volume, quoteVolume }
      expect(await parquetFacts(connection, sandbox.path(`p/${interval}.parquet`)), interval).toEqual(all)
    }
    connection.closeSync()
  })

  it('comes to the last digit from a server whose empty mirror another server fills', async () => {
    const sandbox = newSandbox()
    const first = await startTestServer(realTree(), { now: Date.now })
    const mirror = join(tempFolder(), 'mirror')
    const second = await serveUpstream(first.url, mirror, { now: Date.now })
    const place = ['--base-url', second.url, '--mirror', 'm', '-o', 'csv/{interval}.csv', '-q']
    const run = await sandbox.call(['download', 'DOTUSDT', '-i', CHAINED.join(), ...place])
    expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const expected = CHAINED.map(interval => [`${interval}.csv`, expectedSeries().DOTUSDT[interval].csvSha256])
    expect(hashes(sandbox)).toEqual(Object.fromEntries(expected))
    const windows = (root: string) => filesBelow(join(root, 'api/klines')).filter(file => /\d\.json$/.test(file))
    expect(windows(mirror)).toEqual(windows(sandbox.path('m')))
  })

  it('verified with threads has the one early close of the exchange, a changed volume, and nothing else', async () => {
    const sandbox = newSandbox()
    execFileSync('cp', ['-rl', realTree(), sandbox.path('m')])
    const file = sandbox.path('m/api/klines/1d/DOTUSDT/2024-01-01.json')
    const rows = JSON.parse(readFileSync(file, 'utf8'))
    rows[0][5] = '123456.00000000'
    // This removes the link, not the shared file.
    rmSync(file)
    writeFileSync(file, JSON.stringify(rows))
    const run = await sandbox.run(['verify', 'all', '-i', 'all', '--mirror', 'm', '--json', '--threads', '2'])
    const { comparisons, differences, series } = JSON.parse(run.stdout)
    expect([run.code, run.stderr, comparisons]).toEqual([6, '', 661_818])
    const dots = differences.filter(({ symbol }: { symbol: string }) => symbol === 'DOTUSDT')
    expect(new Set(dots.map(({ column }: { column: string }) => column))).toEqual(new Set(['volume']))
    expect(dots).toContainEqual(expect.objectContaining({ interval: '1d', value: '123456.00000000' }))
    const others = differences.filter(({ symbol }: { symbol: string }) => symbol !== 'DOTUSDT')
    expect(others).toMatchObject([
      { symbol: 'BTCUSDT', interval: '6h', openTime: Date.parse('2017-09-06T12:00Z'), column: 'close_time' },
    ])
    expect(series.filter(({ unverified }: { unverified?: number }) => unverified === undefined).length).toBe(0)
  })
})
