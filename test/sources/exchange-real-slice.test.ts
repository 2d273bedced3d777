import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportKlines } from '../../src/engine/export.js'
import { csvHashes } from '../support/csv-hashes.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { realMarket } from '../support/exchange/real-market.js'
import { filesBelow } from '../support/files-below.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { tempFolder } from '../support/temp-folder.js'

const SYMBOLS = ['ADAUSDT']
const SERIES = SYMBOLS.length * 12
const TODAY = new Date(EXCHANGE_NOW).toISOString().slice(0, 10)

/** The windows of the published slice that have begun, by path, as text. */
function begunWindows(root: string): Map<string, string> {
  const paths = filesBelow(join(root, 'api/klines'))
    .map(path => `api/klines/${path}`)
    .filter(path => SYMBOLS.some(symbol => path.includes(`/${symbol}/`)) && path.slice(-15, -5) <= TODAY)
  return new Map(paths.map(path => [path, readFileSync(join(root, path), 'utf8')]))
}

describe.runIf(hasRealTree)('the real slice behind an exchange (skipped without ../shared/data)', () => {
  it('becomes the published windows byte for byte, with one request a window, one a series and one for the clock', async () => {
    const exchange = await ExchangeServer.start(realMarket(realTree(), SYMBOLS))
    const published = begunWindows(realTree())
    expect(published.size).toBe(SYMBOLS.length * 330)
    const populated = [...published.values()].filter(text => text !== '[]').length
    const [mirror, folder] = [tempFolder(), tempFolder()]
    const request = { symbols: SYMBOLS, intervals: 'all' as const, mirror, baseUrl: `binance:${exchange.url}` }
    const output = join(folder, '{symbol}-{interval}.csv')
    // The workers of threads are built.
    const threads = 1

    const report = await exportKlines({ ...request, output, threads })

    for (const [path, text] of published) expect(readFileSync(join(mirror, path), 'utf8'), path).toBe(text)
    const expected = SYMBOLS.flatMap(symbol =>
      Object.entries(expectedSeries()[symbol]).map(([interval, { csvSha256 }]) => [`${symbol}-${interval}`, csvSha256]),
    )
    expect(expected).toHaveLength(SERIES)
    expect(csvHashes(folder)).toEqual(Object.fromEntries(expected))
    expect(exchange.log.filter(({ kind }) => kind !== 'klines').map(({ kind }) => kind)).toEqual(['time'])
    expect(exchange.log).toHaveLength(populated + SERIES + 1)
    expect(report.requests).toBe(populated + SERIES + 1)
    expect(exchange.violations).toEqual([])

    // A minute later.
    exchange.reset()
    exchange.now = EXCHANGE_NOW + 60_000
    await exportKlines({ ...request, output, force: true, threads })
    const again = exchange.log.filter(({ kind }) => kind === 'klines')
    // Rendered less than a day after its end: still open.
    expect(new Set(again.map(({ symbol, interval }) => `${symbol} ${interval}`)).size).toBe(SERIES)
    expect(again.every(({ startTime = 0 }) => startTime > EXCHANGE_NOW - 3650 * 2 * 86_400_000)).toBe(true)
    expect(exchange.log.length).toBeLessThanOrEqual(SERIES + 1)
    expect(csvHashes(folder)).toEqual(Object.fromEntries(expected))
    expect(existsSync(join(mirror, 'mirror.json'))).toBe(true)
  })
})
