import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import { windowPath } from '../../src/candles/paths.js'
import type { TimeRange } from '../../src/candles/time-range.js'
import { startDateAt, windowSpan } from '../../src/candles/windows.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { isMultiple, parseTargetInterval } from '../../src/rows/target-interval.js'
import { SymbolVerifier } from '../../src/verify/verify-symbol.js'
import { cases as random } from '../support/cases.js'
import { makeRows } from '../support/exchange/made-rows.js'
import { nextOpenTime } from '../support/exchange/market.js'
import {
  compareOracle,
  findGapsOracle,
  isPossible,
  type OracleSeries,
  wholeSpan,
} from '../support/oracles/verify-oracle.js'
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

/** A candle that is taken out, has no trade, or lost the number of its trades; or a column that is changed. */
type Damage = 'gone' | 'idle' | 'no count' | 1 | 2 | 3 | 4 | 5 | 7 | 8 | 9 | 10

/** A part of the time or of the windows, as a share of all. */
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const cases = fc.record({
  kind: fc.constantFrom<keyof typeof KINDS>('minutes', 'hours'),
  /** Spans without a candle of any interval: start and length. */
  outages: fc.array(fc.tuple(share, share), { maxLength: 3 }),
  /** Series, window and row of candles that are taken out or changed in one column. */
  damages: fc.array(
    fc.tuple(fc.nat(5), share, fc.constantFrom<Damage>('gone', 'idle', 'no count', 1, 2, 3, 4, 5, 7, 8, 9, 10)),
    { maxLength: 5 },
  ),
  /** Series and place of windows without a file, or with half of one. */
  lost: fc.array(fc.tuple(fc.nat(5), share, fc.boolean()), { maxLength: 3 }),
  /** Series that lose their candles after some time. */
  cuts: fc.array(fc.tuple(fc.nat(5), share), { maxLength: 2 }),
  /** Series that are not named: others are only compared with them. */
  unnamed: fc.array(fc.nat(5), { maxLength: 3 }),
  /** From where and how long; as whole windows; without the candles at its start, and at its end. */
  range: fc.option(
    fc.record({ from: share, part: share, isWhole: fc.boolean(), holes: fc.tuple(fc.boolean(), fc.boolean()) }),
  ),
  slices: fc.integer({ min: 1, max: 40 }),
})

type Case = Parameters<Parameters<typeof cases.map>[0]>[0]

/** A time of a case, as a share of all. */
function timeAt({ kind }: Pick<Case, 'kind'>, part: number): number {
  return START + Math.floor(part * KINDS[kind].length) * KINDS[kind].step
}

/** The open times that are verified. */
function rangeOf(one: Case): TimeRange {
  if (one.range === null) return { fromTime: -Infinity, toTime: Infinity }
  const { from, part, isWhole } = one.range
  const { intervals, step } = KINDS[one.kind]
  const fromTime = timeAt(one, from)
  const toTime = fromTime + (timeAt(one, part) - START) / 3 + step
  if (!isWhole) return { fromTime, toTime }
  const [first, last] = [fromTime, toTime - step].map(time =>
    windowSpan({ interval: intervals[0], startDate: startDateAt(intervals[0], time) }),
  )
  return { fromTime: first.startTime, toTime: last.endTime }
}

/** Until when candles are read: that of the longest candle of the range, ms UTC. */
function readToOf(one: Case): number {
  const { toTime } = rangeOf(one)
  return toTime === Infinity ? toTime : nextOpenTime(KINDS[one.kind].intervals[5], toTime)
}

/** A series of a case. */
interface MadeSeries extends OracleSeries {
  readonly isNamed: boolean
  readonly startDates: readonly string[]
  readonly missing: readonly string[]
  readonly corrupt: readonly string[]
}

/** Writes the windows of a case; returns what is in them, as far as it is read. */
function makeMirror(root: string, one: Case): MadeSeries[] {
  const { kind, outages, damages, lost, cuts, unnamed } = one
  const { step, intervals, length } = KINDS[kind]
  const { fromTime, toTime } = rangeOf(one)
  const readTo = readToOf(one)
  const isIn = (time: number, end = toTime) => time >= fromTime && time < end
  const holes = outages.map(([from, part]) => {
    const start = timeAt(one, from)
    return [start, start + (1 + Math.floor((part * length) / 10)) * step] as const
  })
  for (const [index, time] of [fromTime, toTime].entries()) {
    // Candles open on the grid, also after a hole.
    const middle = time - (time % step)
    if (one.range?.holes[index]) holes.push([middle - (length * step) / 20, middle + (length * step) / 20])
  }
  return intervals.map((interval, index): MadeSeries => {
    const whole = makeRows(SYMBOL, interval, START, START + length * step, [], step)
    const end = Math.min(...cuts.filter(([place]) => place === index).map(([, part]) => timeAt(one, part)))
    const rows = makeRows(SYMBOL, interval, START, START + length * step, holes, step)
      .filter(([openTime]) => openTime < end)
      .map(row => [...row] as Row)
    for (const [, part, column] of damages.filter(([place]) => place === index)) {
      const row = Math.floor(part * rows.length)
      if (rows.length === 0) continue
      if (column === 'gone') rows.splice(row, 1)
      else if (column === 'idle' || column === 'no count') {
        const [openTime, open, , , , , closeTime] = rows[row]
        if (column === 'idle') rows[row] = [openTime, open, open, open, open, '0', closeTime, '0', 0, '0', '0', '0']
        else rows[row][8] = 0
      } else if (column === 8) rows[row][8]++
      else rows[row][column] = '0.12345678'
    }
    const startDates = [...new Set(whole.map(([openTime]) => startDateAt(interval, openTime)))]
    const states = new Map<string, boolean>(
      lost
        .filter(([place]) => place === index)
        .map(([, part, isCorrupt]) => [startDates[Math.floor(part * startDates.length)], isCorrupt]),
    )
    const windows = startDates.map(startDate => {
      const span = windowSpan({ interval, startDate })
      const text = JSON.stringify(rows.filter(([openTime]) => startDateAt(interval, openTime) === startDate))
      const isCorrupt = states.get(startDate)
      if (isCorrupt !== false) {
        const path = windowPath({ symbol: SYMBOL, interval, startDate })
        putFile(root, path, isCorrupt ? text.slice(0, text.length / 2) : text)
      }
      return { ...span, startDate, isValid: isCorrupt === undefined }
    })
    const cached = rows.filter(([openTime]) => !states.has(startDateAt(interval, openTime)))
    const needed = windows.filter(({ startTime, endTime }) => startTime < readTo && endTime > fromTime)
    const count = (isCorrupt: boolean) =>
      needed.flatMap(({ startDate, startTime }) =>
        states.get(startDate) === isCorrupt && startTime < toTime ? [startDate] : [],
      )
    return {
      interval,
      isNamed: !unnamed.includes(index),
      rows: cached.filter(([openTime]) => isIn(openTime, readTo)),
      spans: needed
        .filter(({ isValid }) => isValid)
        .map(({ startTime, endTime }) => [Math.max(startTime, fromTime), Math.min(endTime, readTo)]),
      fitsInto: coarser => isMultiple(parseTargetInterval(coarser), interval),
      times: whole.map(([openTime]) => openTime).filter(time => isIn(time)),
      known: wholeSpan(interval, cached),
      startDates: needed.map(({ startDate }) => startDate),
      missing: count(false),
      corrupt: count(true),
    }
  })
}

test('verifying slices of any length and range finds what an independent calculation of the whole series finds', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async one => {
      const root = tempFolder()
      const all = makeMirror(root, one)
      const { length, step } = KINDS[one.kind]
      const scope = { range: rangeOf(one), readTo: readToOf(one) }
      const sliceMs = Math.ceil(length / one.slices) * step
      const verifier = new SymbolVerifier(new Mirror(root), scope, undefined, sliceMs)
      const found = await verifier.verify(
        all.map(({ interval, isNamed, startDates }) => {
          const series = { symbol: SYMBOL, interval: interval as Interval }
          return { series, isNamed, windows: startDates.map(startDate => ({ ...series, startDate })) }
        }),
      )

      const compared = new Map(all.map(({ interval }) => [interval, new Set<number>()]))
      const expected = all.flatMap(finer =>
        all
          .filter(({ interval, isNamed }) => isNamed && finer.fitsInto(interval))
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
      const named = all.filter(({ isNamed }) => isNamed)
      const { fromTime, toTime } = rangeOf(one)
      for (const [index, series] of found.series.entries()) {
        const { interval, missing, corrupt } = named[index]
        const rows = named[index].rows.filter(([openTime]) => openTime >= fromTime && openTime < toTime)
        expect(series.candles).toBe(rows.length)
        const invalid = series.faults.filter(({ kind }) => kind === 'invalid_values').map(({ openTime }) => openTime)
        expect([...new Set(invalid)]).toEqual(
          rows.filter(row => !isPossible(interval, row)).map(([openTime]) => openTime),
        )
        expect(series.gaps.map(gap => [gap.startTime, gap.endTime, gap.missing])).toEqual(findGapsOracle(named[index]))
        expect([series.missingWindows, series.corrupt.map(({ startDate }) => startDate)]).toEqual([missing, corrupt])
        const times = compared.get(interval)
        expect(series.unverified).toBe(rows.filter(([openTime]) => !times?.has(openTime)).length)
      }
    }),
    { numRuns: random(100, 6) },
  )
})
