import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { KlineRow } from '../../../src/candles/columns.js'
import { dryRun, exportKlines } from '../../../src/engine/export.js'
import { type ServeRequest, serve } from '../../../src/index.js'
import { pageOf } from '../../../src/rows/day-checks.js'
import { archiveSetup, datesBetween } from '../../support/archive/archive-setup.js'
import { makeZip } from '../../support/archive/make-zip.js'
import { catchError } from '../../support/errors.js'
import { onWindow } from '../../support/events.js'
import { madeMarket } from '../../support/exchange/made-market.js'
import { EXCHANGE_NOW, type Market } from '../../support/exchange/market.js'
import { realMarket } from '../../support/exchange/real-market.js'
import { hasRealTree, realTree } from '../../support/oracles/real-tree.js'
import { aggregateOracle } from '../../support/oracles/resample-oracle.js'
import { tempFolder } from '../../support/temp-folder.js'

/** Listed in the middle of a day, with three hours without trade on 20 March; the clock is 30 April 2026, 04:20. */
const TICKUSDT = { from: '2026-02-10T10:15Z', without: [['2026-03-20T02:00Z', '2026-03-20T05:00Z']] } as const
const DAY = 86_400_000
const FROM = '2026-02-10'
const LAST_ZIP = '2026-04-28'

/** The shortest candles are those of the interval. */
const setup = (interval: '1m' | '3m' | '5m' = '1m') => {
  const market = madeMarket({ TICKUSDT: { ...TICKUSDT, minutes: Number(interval[0]) } }, { until: '2026-05-01T00:00Z' })
  return archiveSetup(market, { symbol: 'TICKUSDT', interval })
}

describe('the archive', () => {
  it('gives months of minutes, byte for byte those of the exchange', async () => {
    const { archive, exchange, download, wrongDays, requestedDays, warnings } = await setup('5m')
    const expected = await dryRun({
      ...{ symbols: ['TICKUSDT'], intervals: ['5m'], from: FROM, now: EXCHANGE_NOW },
      ...{ baseUrl: `binance:${exchange.url}`, archiveUrl: archive.url, mirror: tempFolder() },
    })
    exchange.reset()
    const report = await download({ from: FROM })
    expect(wrongDays(FROM, '2026-04-30')).toEqual([])
    expect(warnings).toEqual([])
    const reason = 'no whole candle opens at 2026-03-20 02:00 UTC'
    const refused = { symbol: 'TICKUSDT', interval: '5m', startDate: '2026-03-20', reason }
    expect(report.archive).toEqual({ windows: 77, refused: [refused] })
    const days = datesBetween('2026-04-01', '2026-04-29').map(date => `TICKUSDT-5m-${date}`)
    expect(archive.names).toEqual(['TICKUSDT-5m-2026-02', 'TICKUSDT-5m-2026-03', ...days])
    // Clock, first candle, the hours and a page of each month; then three days.
    expect(exchange.log).toHaveLength(2 + 3 + 3 + 3)
    expect(report.requests).toBe(30 + 11)
    // It cannot know the day that is refused.
    expect(expected.requests).toBe(30 + 3 + 3 + 2)
    expect(requestedDays()).toEqual(['2026-03-20', '2026-04-29', '2026-04-30'])
    exchange.reset()
    archive.reset()
    expect((await download({ from: FROM })).archive).toBeUndefined()
    expect(requestedDays()).toEqual(['2026-04-29', '2026-04-30'])
    expect(archive.log).toEqual([])
  })

  it.each(['3m', '5m'] as const)('gives %s too, and tries days of a recent month without a zip', async interval => {
    const { archive, download, wrongDays } = await setup(interval)
    archive.now = Date.UTC(2026, 3, 10)
    archive.zips.set(`TICKUSDT-${interval}-2026-02`, undefined)
    // So many in a row, of which eight are asked for at once, are no failure of the archive.
    const absent = datesBetween('2026-03-01', '2026-03-19')
    for (const date of absent) archive.zips.set(`TICKUSDT-${interval}-${date}`, undefined)
    const report = await download({ from: FROM, to: '2026-04-15' })
    expect(wrongDays(FROM, '2026-04-15')).toEqual([])
    expect(archive.names).toContain(`TICKUSDT-${interval}-2026-03`)
    expect(archive.names).toContain(`TICKUSDT-${interval}-2026-03-31`)
    // February ended more than 45 days ago.
    expect(archive.names).not.toContain(`TICKUSDT-${interval}-2026-02-28`)
    const without = [
      ...datesBetween(FROM, '2026-03-01'),
      ...absent,
      '2026-03-20',
      ...datesBetween('2026-04-09', '2026-04-15'),
    ]
    expect(report.archive?.refused.map(({ startDate }) => startDate)).toEqual(without)
  })

  it.each([
    ['noArchive', { noArchive: true }],
    ['refresh', { refresh: true }],
    ['no address beside binance:URL', { archiveUrl: undefined }],
    ['fewer than 15 days', { to: '2026-02-24' }],
  ])('is not asked with %s', async (_, options) => {
    const { archive, download, wrongDays } = await setup('5m')
    const report = await download({ from: FROM, to: '2026-03-10', ...options })
    expect(wrongDays(FROM, '2026-02-24')).toEqual([])
    expect(report.archive).toBeUndefined()
    expect(archive.log).toEqual([])
  })

  it('is not asked by a server, nor for intervals from 15m on', async () => {
    const { archive, exchange, mirror, download } = await setup('5m')
    await download({ intervals: ['15m'], from: FROM })
    const request = { baseUrl: `binance:${exchange.url}`, archiveUrl: archive.url, mirror, upstream: true, port: 0 }
    const server = await serve(request as ServeRequest)
    const answer = await fetch(`${server.url}/export/5m/TICKUSDT.csv?from=2026-03-01&to=2026-03-20`)
    expect((await answer.text()).split('\n')).toHaveLength(19 * 288 + 2)
    await server.close()
    expect(archive.log).toEqual([])
  })

  it('keeps cached windows, and what an interrupted run has stored', async () => {
    const { archive, download, wrongDays, dates, requestedDays } = await setup('5m')
    const stop = new AbortController()
    let done = 0
    const onEvent = onWindow(() => {
      if (++done === 30) stop.abort(new Error('stopped'))
    })
    await expect(download({ from: FROM, to: LAST_ZIP, onEvent, signal: stop.signal })).rejects.toThrow('stopped')
    const stored = dates('5m/TICKUSDT')
    expect(stored.length).toBeGreaterThan(29)
    expect(wrongDays(FROM, '2026-03-12')).toEqual([])
    requestedDays()
    archive.reset()
    const report = await download({ from: FROM, to: LAST_ZIP })
    expect(wrongDays(FROM, LAST_ZIP)).toEqual([])
    expect(archive.names).not.toContain('TICKUSDT-5m-2026-02')
    expect(report.archive?.windows).toBeLessThanOrEqual(77 - stored.length)
  })

  it('compares rows of the days that it is going to give', async () => {
    const { archive, exchange, download, wrongDays } = await setup()
    await download({ from: '2026-03-10', to: '2026-03-25', noArchive: true })
    exchange.reset()
    const report = await download({ from: '2026-03-09', to: '2026-04-10' })
    expect(archive.names).toContain('TICKUSDT-1m-2026-03')
    expect(report.archive?.windows).toBe(1 + 7 + 9)
    expect(wrongDays('2026-03-09', '2026-04-10')).toEqual([])
    const pages = exchange.log.filter(({ query, startTime = 0, endTime = 0 }) => {
      return query.get('interval') === '1m' && endTime >= startTime + 86_400_000
    })
    const dates = pages.map(({ startTime = 0 }) => new Date(startTime + 999 * 60_000).toISOString().slice(0, 10))
    expect(pages.map(({ startTime = 0 }) => new Date(startTime).toISOString().slice(0, 10))).toEqual(dates)
    expect(dates.some(date => ['2026-03-09', ...datesBetween('2026-03-25', '2026-04-01')].includes(date))).toBe(true)
  })

  it('fetches zips eight at once', async () => {
    const { archive, download } = await setup('5m')
    archive.hold = async () => void (await vi.waitUntil(() => archive.peak >= 8, { timeout: 60_000 }))
    await download({ from: FROM })
    expect(archive.peak).toBe(8)
  })
})

/** Wanted days of a month, ascending. */
const wantedDays = fc.subarray(datesBetween('2024-01-01', '2024-02-01'), { minLength: 1 })

it('the compared rows of 1m lie in one wanted day, and those of 3m and 5m begin with one and go on with as many as there are', () => {
  fc.assert(
    fc.property(wantedDays, fc.constantFrom('1m', '3m', '5m'), fc.string(), (dates, interval, name) => {
      const windows = dates.map(startDate => ({ symbol: 'BTCUSDT', interval, startDate }) as const)
      const { startTime, endTime } = pageOf(name, windows, 1000)
      const first = dates.findIndex(date => Date.parse(date) <= startTime && startTime < Date.parse(date) + DAY)
      expect(first).toBeGreaterThanOrEqual(0)
      expect(endTime).toBe(Date.parse(dates[dates.length - 1]) + DAY)
      if (interval === '1m') expect(startTime + 1000 * 60_000).toBeLessThanOrEqual(Date.parse(dates[first]) + DAY)
      else expect(dates.length - first).toBeGreaterThanOrEqual(Math.min(dates.length, interval === '3m' ? 3 : 4))
    }),
  )
})

it.each([
  ['a static service', 'http://127.0.0.1:9'],
  ['the sample', 'sample'],
])('an archive beside %s is refused before any request', async (_, baseUrl) => {
  const request = { symbols: ['BTCUSDT'], intervals: ['1d'], baseUrl, mirror: tempFolder() } as const
  for (const more of [{}, { refresh: true }, { noArchive: true }, { offline: true }]) {
    const error = await catchError(exportKlines({ ...request, ...more, archiveUrl: 'http://127.0.0.1:9', output: '-' }))
    expect(error).toMatchObject({
      code: 'bad_option',
      message: `--archive-url names an archive of the exchange, and this run downloads from ${baseUrl}, which has none.`,
    })
  }
})

/** Real candles of 15m as if they were of 5m, one after the other, and the hours that they add up to. */
function realMinutes(symbol: string): Market {
  const start = Date.UTC(2024, 11, 20)
  const real = realMarket(realTree()).rows(symbol, '15m') ?? []
  const rows = real.slice(0, 21 * 288).map((row, index): KlineRow => {
    const openTime = start + index * 300_000
    return row.with(0, openTime).with(6, openTime + 299_999) as KlineRow
  })
  const hours = Array.from({ length: 21 * 24 }, (_, hour) => {
    return aggregateOracle(start + hour * 3_600_000, rows.slice(12 * hour, 12 * (hour + 1))) as KlineRow
  })
  return madeMarket({ [symbol]: { rows: { '5m': rows, '1h': hours }, until: 0 } })
}

describe.skipIf(!hasRealTree)('the digits of real candles (skipped without ../shared/data)', () => {
  it.each(['BTCUSDT', 'ADAUSDT'])('add up, and stay as they are, in ms and in µs: %s', async symbol => {
    const { archive, download, wrongDays } = await archiveSetup(realMinutes(symbol), { symbol, interval: '5m' })
    const [from, to] = ['2024-12-20', '2025-01-10']
    const report = await download({ from, to })
    expect(report.archive).toEqual({ windows: 21, refused: [] })
    expect(archive.names).toEqual([`${symbol}-5m-2024-12`, `${symbol}-5m-2025-01`])
    expect(wrongDays(from, to)).toEqual([])
  })
})

it('the zips of these tests are zips', ({ skip }) => {
  if (spawnSync('unzip', ['-v']).error) skip('needs unzip')
  const folder = tempFolder()
  const path = join(folder, 'a.zip')
  writeFileSync(path, makeZip({ name: 'a.csv', content: '1,2\n'.repeat(10_000) }))
  const { status, stdout } = spawnSync('unzip', ['-t', path], { encoding: 'utf8' })
  expect(stdout).toContain('No errors detected')
  expect(status).toBe(0)
  spawnSync('unzip', ['-q', path], { cwd: folder })
  expect(readFileSync(join(folder, 'a.csv'), 'utf8')).toBe('1,2\n'.repeat(10_000))
})
