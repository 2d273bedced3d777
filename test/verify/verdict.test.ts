import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { windowPath } from '../../src/candles/paths.js'
import { type VerifyRequest, verifyKlines } from '../../src/verify/verify.js'
import { aggregateOracle } from '../support/oracles/resample-oracle.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { sampleRow } from '../support/windows.js'

const HOUR = 3_600_000
const START = Date.parse('2024-02-01')
const at = (hour: number) => START + hour * HOUR
const row = (hour: number, cells = {}) => sampleRow(at(hour), { 6: at(hour + 1) - 1, ...cells })
/** The candles of two days but for some hours, from one to another. */
const hoursWithout = (...gaps: [number, number][]) =>
  Array.from({ length: 48 }, (_, hour) => row(hour)).filter((_, hour) => gaps.every(([a, b]) => hour < a || hour >= b))
const sumsOf = (hours: readonly KlineRow[], length: number) =>
  Array.from({ length: 48 / length }, (_, index) => at(index * length)).flatMap(start => {
    const parts = hours.filter(([time]) => time >= start && time < start + length * HOUR)
    return parts.length > 0 ? [aggregateOracle(start, parts) as KlineRow] : []
  })

/** Verifies a mirror of these candles, by `BTCUSDT 1h`. */
function verify(series: Record<string, readonly KlineRow[]>, request: Partial<VerifyRequest> = {}) {
  const mirror = join(tempFolder(), 'm')
  for (const [name, rows] of Object.entries(series)) {
    const [symbol, interval] = name.split(' ')
    const startDate = interval === '1h' ? '2024-02-01' : '2024-01-01'
    putFile(mirror, windowPath({ symbol, interval: interval as '1h', startDate }), rows)
  }
  return verifyKlines({ symbols: 'all', intervals: 'all', mirror, now: at(48), ...request })
}

describe('verifyKlines', () => {
  it('calls a gap an outage if another symbol lacks candles for half of its time, and merges those that overlap', async () => {
    const { series, outages } = await verify({
      'BTCUSDT 1h': hoursWithout([10, 14], [20, 25]),
      'ETHUSDT 1h': hoursWithout([11, 13], [23, 29]),
    })
    const both = series.map(({ symbol, interval }) => ({ symbol, interval }))
    expect(series.map(({ gaps }) => gaps.map(({ missing, outage }) => [missing, outage]))).toEqual([
      [
        [4, true],
        [5, false],
      ],
      [
        [2, true],
        [6, false],
      ],
    ])
    expect(outages).toEqual([
      { startTime: at(10), endTime: at(14), isShared: true, series: both },
      { startTime: at(20), endTime: at(25), isShared: false, series: [both[0]] },
      { startTime: at(23), endTime: at(29), isShared: false, series: [both[1]] },
    ])
  })

  it('is empty only if all series are', async () => {
    const none = { 'ADAUSDT 1h': [], 'ETHUSDT 1h': [] }
    expect((await verify(none)).verdict).toBe('empty')
    expect((await verify({ ...none, 'BTCUSDT 1h': hoursWithout() })).verdict).toBe('ok')
  })

  it('blames an invalid candle and not the longer ones of it, and names each value that differs once', async () => {
    const hours = hoursWithout()
    const [two, four] = [2, 4].map(length => sumsOf(hours, length))
    const [changed, other] = [two[1], four[2]].map(one => one.with(8, Number(one[8]) + 1) as KlineRow)
    const { verdict, series, faults } = await verify({
      'BTCUSDT 1h': hours.with(4, row(4, { 5: '1' })),
      'BTCUSDT 2h': two.with(1, changed),
      'BTCUSDT 4h': four.with(2, other),
    })
    expect(verdict).toBe('failed')
    expect(series.map(({ counts, differing, isFailing }) => [counts.invalid, differing, isFailing])).toEqual([
      [1, 0, true],
      [0, 1, true],
      [0, 2, true],
    ])
    expect(faults.map(({ interval, openTime, column, finer }) => [interval, openTime, column, finer])).toEqual([
      ['2h', at(2), 'count', ['1h']],
      ['4h', at(8), 'count', ['1h', '2h']],
      ['4h', at(0), 'count', ['2h']],
    ])
  })

  it('a note is no fault', async () => {
    const hours = hoursWithout([47, 48]).with(46, row(46, { 6: at(47) - 1000 }))
    const two = sumsOf(hours, 2)
    const last = two[23].with(6, at(47) - 999) as KlineRow
    const { verdict, series } = await verify({ 'BTCUSDT 1h': hours, 'BTCUSDT 2h': two.with(23, last) })
    expect([verdict, series.map(({ differing, notes }) => [differing, notes])]).toEqual([
      'ok',
      [
        [0, 0],
        [0, 1],
      ],
    ])
  })

  it('compares the last candle that opens in the range whole, and lists at most 20 beside their sums', async () => {
    // The last hour closed early, and the candle of two hours with it.
    const hours = hoursWithout([3, 48]).with(2, row(2, { 6: at(3) - 1000 }))
    const all = { 'BTCUSDT 1h': hours, 'BTCUSDT 2h': sumsOf(hours, 2) }
    const { pairs, sums } = await verify(all, { to: '2024-02-01T03:00', sums: true })
    expect(pairs.map(({ comparisons }) => comparisons)).toEqual([2])
    expect(sums.map(({ interval, finer }) => [interval, finer?.candles])).toEqual([
      ...[1, 2, 3].map(() => ['1h', undefined]),
      ['2h', 2],
      ['2h', 1],
    ])
    const whole = { 'BTCUSDT 1h': hoursWithout(), 'BTCUSDT 2h': sumsOf(hoursWithout(), 2) }
    expect((await verify(whole, { to: '2024-02-01T03:00' })).pairs.map(({ comparisons }) => comparisons)).toEqual([2])
    const long = { 'BTCUSDT 1h': hoursWithout() }
    expect((await verify(long, { to: '2024-02-01T20:00', sums: true })).sums).toHaveLength(20)
    expect((await verify(long, { to: '2024-02-01T21:00', sums: true })).sums).toEqual([])
  })
})
