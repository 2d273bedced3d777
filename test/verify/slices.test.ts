import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Interval } from '../../src/klines/intervals.js'
import { windowPath } from '../../src/klines/paths.js'
import { isMultiple, parseTargetInterval } from '../../src/klines/resample/target-interval.js'
import { startDateAt, windowSpan } from '../../src/klines/windows.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { SymbolVerifier } from '../../src/verify/verify-symbol.js'
import { makeRows } from '../support/exchange/made-rows.js'
import { compareOracle, findGapsOracle, type OracleSeries } from '../support/oracles/verify-oracle.js'
import { putFile, type Row } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const [MINUTE, HOUR] = [60_000, 3_600_000]
const SYMBOL = 'TICKUSDT'
/** What is made and verified: the shortest candles, the intervals, and how long, in units of the shortest candle. */
const KINDS = {
  minutes: { step: MINUTE, intervals: ['1m', '3m', '5m', '15m', '1h', '1d'], length: 2 * 1440 },
  hours: { step: HOUR, intervals: ['1h', '4h', '1d', '3d', '1w', '1M'], length: 70 * 24 },
} as const
const START = Date.parse('2024-01-03')

/** A part of the time or of the windows, as a share of all. */
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const cases = fc.record({
  kind: fc.constantFrom<keyof typeof KINDS>('minutes', 'hours'),
  /** Spans without a candle of any interval: start and length. */
  outages: fc.array(fc.tuple(share, share), { maxLength: 3 }),
  /** Series, window and row of candles that are taken out or changed in one column. */
  damages: fc.array(
    fc.tuple(
      fc.nat(5),
      share,
      fc.constantFrom<'gone' | 1 | 2 | 3 | 4 | 5 | 7 | 8 | 9 | 10>('gone', 1, 2, 3, 4, 5, 7, 8, 9, 10),
    ),
    { maxLength: 5 },
  ),
  /** Series and place of windows without a file, or with half of one. */
  lost: fc.array(fc.tuple(fc.nat(5), share, fc.boolean()), { maxLength: 3 }),
  slices: fc.integer({ min: 1, max: 40 }),
})

type Case = Parameters<Parameters<typeof cases.map>[0]>[0]

/** Writes the windows of a case; returns what is in them. */
function makeMirror(root: string, { kind, outages, damages, lost }: Case) {
  const { step, intervals, length } = KINDS[kind]
  const at = (part: number) => START + Math.floor(part * length) * step
  const holes = outages.map(
    ([from, part]) => [at(from), at(from) + (1 + Math.floor((part * length) / 10)) * step] as const,
  )
  return intervals.map((interval, index) => {
    const whole = makeRows(SYMBOL, interval, START, START + length * step, [], step)
    const rows = makeRows(SYMBOL, interval, START, START + length * step, holes, step).map(row => [...row] as Row)
    for (const [, part, column] of damages.filter(([place]) => place === index)) {
      const row = Math.floor(part * rows.length)
      if (rows.length === 0) continue
      if (column === 'gone') rows.splice(row, 1)
      else if (column === 8) rows[row][8]++
      else rows[row][column] = '0.12345678'
    }
    const startDates = [...new Set(whole.map(([openTime]) => startDateAt(interval, openTime)))]
    const states = new Map<string, boolean>(
      lost
        .filter(([place]) => place === index)
        .map(([, part, isCorrupt]) => [startDates[Math.floor(part * startDates.length)], isCorrupt]),
    )
    for (const startDate of startDates) {
      const text = JSON.stringify(rows.filter(([openTime]) => startDateAt(interval, openTime) === startDate))
      const path = windowPath({ symbol: SYMBOL, interval, startDate })
      const isCorrupt = states.get(startDate)
      if (isCorrupt !== false) putFile(root, path, isCorrupt ? text.slice(0, text.length / 2) : text)
    }
    const series: OracleSeries = {
      interval,
      rows: rows.filter(([openTime]) => !states.has(startDateAt(interval, openTime))),
      spans: startDates
        .filter(startDate => !states.has(startDate))
        .map(startDate => windowSpan({ interval, startDate }))
        .map(({ startTime, endTime }) => [startTime, endTime]),
      fitsInto: coarser => isMultiple(parseTargetInterval(coarser), interval),
      times: whole.map(([openTime]) => openTime),
    }
    const count = (isCorrupt: boolean) => startDates.filter(startDate => states.get(startDate) === isCorrupt)
    return { ...series, startDates, missing: count(false), corrupt: count(true) }
  })
}

test('verifying slices of any length finds what an independent calculation of the whole series finds', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async one => {
      const root = tempFolder()
      const all = makeMirror(root, one)
      const { length } = KINDS[one.kind]
      const verifier = new SymbolVerifier(new Mirror(root), {
        audit: true,
        range: { fromTime: -Infinity, toTime: Infinity },
        horizon: Date.parse('2024-12-01'),
        sliceCandles: Math.ceil(length / one.slices),
      })
      const found = await verifier.verify(
        all.map(({ interval, startDates }) => ({ symbol: SYMBOL, interval: interval as Interval, startDates })),
      )

      const compared = new Map(all.map(({ interval }) => [interval, new Set<number>()]))
      const expected = all.flatMap(finer =>
        all
          .filter(({ interval }) => finer.fitsInto(interval))
          .map(coarser => {
            const comparisons = compareOracle(finer, coarser)
            for (const time of comparisons.keys()) compared.get(coarser.interval)?.add(time)
            return { finer: finer.interval, interval: coarser.interval, comparisons }
          }),
      )
      expect(found.pairs).toEqual(
        expected.map(({ finer, interval, comparisons }) => {
          return { symbol: SYMBOL, finer, interval, comparisons: comparisons.size }
        }),
      )
      const differences = found.differences.map(({ finer, interval, openTime, column = 'candle' }) =>
        [finer, interval, openTime, column].join(' '),
      )
      expect(differences).toEqual(
        expected.flatMap(({ finer, interval, comparisons }) =>
          [...comparisons].flatMap(([time, columns]) => columns.map(name => [finer, interval, time, name].join(' '))),
        ),
      )
      for (const [index, series] of found.series.entries()) {
        const { interval, rows, missing, corrupt } = all[index]
        expect(series.candles).toBe(rows.length)
        expect(series.gaps.map(gap => [gap.startTime, gap.endTime, gap.missing])).toEqual(findGapsOracle(all[index]))
        expect([series.missingWindows, series.corrupt.map(({ startDate }) => startDate)]).toEqual([missing, corrupt])
        const times = compared.get(interval)
        expect(series.unverified).toBe(rows.filter(([openTime]) => !times?.has(openTime)).length)
      }
    }),
    { numRuns: 25 },
  )
})
