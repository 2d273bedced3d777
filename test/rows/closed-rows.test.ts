import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import type { Interval } from '../../src/candles/intervals.js'
import { isClosed, renderWindow } from '../../src/rows/closed-rows.js'
import { INTERVAL_LENGTHS } from '../support/oracles/intervals.js'
import { decimals, klineRows, oddTexts } from '../support/oracles/kline-arbitraries.js'
import { thrownBy } from '../support/thrown-by.js'
import { LEAP_MONTH, sampleRow, TWENTY_YEARS, WEEK } from '../support/windows.js'

const HOUR = 3_600_000
const SETTLING = 15_000
const NOON = Date.UTC(2024, 1, 10, 12)

describe('a candle is closed', () => {
  it.each<[string, Interval, number, number]>([
    ['of 15 minutes', '15m', NOON, NOON + HOUR / 4],
    ['of an hour', '1h', NOON, NOON + HOUR],
    ['of three days', '3d', Date.UTC(2024, 1, 9), Date.UTC(2024, 1, 12)],
    ['of a week', '1w', Date.UTC(2024, 1, 5), Date.UTC(2024, 1, 12)],
    ['of a leap February', '1M', Date.UTC(2024, 1), Date.UTC(2024, 2)],
    ['of a December', '1M', Date.UTC(2024, 11), Date.UTC(2025, 0)],
  ])('%s, 15 s after its end', (_, interval, openTime, end) => {
    const at = (time: number) => isClosed(interval, openTime, end - 1, time)
    expect([end - 1, end, end + 14_999, end + 15_000, end + 15_001].map(at)).toEqual([false, false, false, true, true])
  })

  it('that closes early waits for the end of its interval', () => {
    const early = NOON + HOUR / 2 - 1
    expect(isClosed('1h', NOON, early, NOON + HOUR / 2 + SETTLING)).toBe(false)
    expect(isClosed('1h', NOON, early, NOON + HOUR + SETTLING - 1)).toBe(false)
    expect(isClosed('1h', NOON, early, NOON + HOUR + SETTLING)).toBe(true)
  })

  it('that closes late, or is off the grid, waits for its own end', () => {
    expect(isClosed('1h', NOON, NOON + 2 * HOUR - 1, NOON + HOUR + SETTLING)).toBe(false)
    expect(isClosed('1h', NOON, NOON + 2 * HOUR - 1, NOON + 2 * HOUR + SETTLING)).toBe(true)
    const offGrid = NOON + 854_789
    expect(isClosed('1h', offGrid, offGrid + HOUR - 1, offGrid + HOUR + SETTLING - 1)).toBe(false)
    expect(isClosed('1h', offGrid, offGrid + HOUR - 1, offGrid + HOUR + SETTLING)).toBe(true)
  })
})

/** The end of the interval that begins at `openTime`, by a calendar of its own. */
function intervalEnd(interval: string, openTime: number): number {
  const length = INTERVAL_LENGTHS.find(([name]) => name === interval)?.[1]
  const date = new Date(openTime)
  return length ? openTime + length : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/** What the builder of the published tree writes: the JSON of the closed rows. */
function oracle(rows: readonly KlineRow[], interval: string, time: number): string {
  const isDone = ([openTime, , , , , , closeTime]: KlineRow) =>
    time >= closeTime + 1 + SETTLING && time >= intervalEnd(interval, openTime) + SETTLING
  return JSON.stringify(rows.filter(isDone))
}

const KNOWN = [LEAP_MONTH, WEEK, TWENTY_YEARS]

/** Rows whose candles do not reach into the next one; some close early, as in an outage. */
const slices = fc.constantFrom(...KNOWN).chain(known =>
  fc.record({
    known: fc.constant(known),
    rows: klineRows(known, { maxRows: 12, ignore: fc.oneof(fc.constant('0'), oddTexts), decimal: decimals() }).map(
      rows =>
        rows.map((row, index): KlineRow => {
          const next = rows[index + 1]?.[0] ?? Number.POSITIVE_INFINITY
          const closeTime = Math.min(row[6], intervalEnd(known.window.interval, row[0]) - 1, next - 1)
          return Object.assign([...row] as KlineRow, { 6: closeTime })
        }),
    ),
    /** After which row the clock stands, and how far. */
    after: fc.nat(12),
    offset: fc.oneof(fc.integer({ min: -20_000, max: 20_000 }), fc.integer({ min: -(10 ** 9), max: 10 ** 9 })),
    /** The body: compact, as people write it, with a line end, with a byte order mark, with escapes, or with other numbers. */
    form: fc.constantFrom('compact', 'compact', 'indented', 'line end', 'space', 'mark', 'escapes', 'exponent'),
  }),
)

function write(rows: readonly KlineRow[], form: string): Buffer {
  const text = JSON.stringify(rows)
  if (form === 'indented') return Buffer.from(JSON.stringify(rows, null, 2))
  if (form === 'line end') return Buffer.from(`${text}\n`)
  if (form === 'space') return Buffer.from(` ${text}`)
  if (form === 'mark') return Buffer.from(`\ufeff${text}`)
  if (form === 'escapes') return Buffer.from(text.replace(/"0"\]/g, '"\\u0030"]').replaceAll('/', '\\/'))
  if (form === 'exponent') return Buffer.from(text.replace(/,(\d+),"/g, ',$1.0,"'))
  return Buffer.from(text)
}

describe('the file of a window', () => {
  it('is the JSON of the closed rows, byte for byte: 200 random slices', () => {
    const seen = { cut: 0, whole: 0, none: 0 }
    const property = fc.property(slices, ({ known, rows, after, offset, form }) => {
      const { window, span } = known
      const row = rows[Math.min(after, rows.length - 1)]
      const time = (row ? intervalEnd(window.interval, row[0]) : span.startTime) + SETTLING + offset
      const expected = oracle(rows, window.interval, time)
      const { bytes, batch } = renderWindow(write(rows, form), window, time)
      expect(String(bytes)).toBe(expected)
      const kept = JSON.parse(expected) as KlineRow[]
      expect(batch.length).toBe(kept.length)
      kept.forEach((row, index) => {
        expect([batch.openTime(index), batch.closeTime(index)]).toEqual([row[0], row[6]])
      })
      seen[kept.length === 0 ? 'none' : kept.length < rows.length ? 'cut' : 'whole']++
    })
    fc.assert(property, { numRuns: 200 })
    // The slices must be of all kinds.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(50)
  })

  const { window, span } = LEAP_MONTH
  const rows = [0, 1, 2].map(hour =>
    sampleRow(span.startTime + hour * HOUR, { 6: span.startTime + (hour + 1) * HOUR - 1 }),
  )
  const body = Buffer.from(JSON.stringify(rows))

  it('is the body itself when all candles are closed, and `[]` when none is', () => {
    expect(renderWindow(body, window, span.endTime).bytes).toEqual(body)
    expect(String(renderWindow(body, window, span.startTime).bytes)).toBe('[]')
    expect(String(renderWindow(Buffer.from('[]'), window, span.endTime).bytes)).toBe('[]')
    expect(String(renderWindow(Buffer.from(' [\n]\n'), window, span.endTime).bytes)).toBe('[]')
  })

  it('is refused whole for a fault in the open candle', () => {
    const faulty = Buffer.from(JSON.stringify([...rows.slice(0, 2), rows[2].slice(0, 11)]))
    const error = thrownBy(() => renderWindow(faulty, window, span.startTime + 2 * HOUR + SETTLING))
    expect(error).toMatchObject({ code: 'bad_window', message: expect.stringMatching(/row 2: .*12.*got 11/) })
  })

  it.each([
    ['an error object', '{"code":-1121,"msg":"Invalid symbol."}'],
    ['a web page', '<html></html>'],
    ['nothing', ''],
    ['microseconds', JSON.stringify([sampleRow(span.startTime * 1000)])],
    ['a row twice', JSON.stringify([rows[0], ...rows])],
    ['a body that is cut', JSON.stringify(rows).slice(0, -20)],
  ])('is refused for %s', (_, text) => {
    expect(thrownBy(() => renderWindow(Buffer.from(text), window, span.endTime)).code).toBe('bad_window')
  })
})
