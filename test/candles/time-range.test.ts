import { describe, expect, test } from 'vitest'
import { formatTime } from '../../src/candles/text.js'
import {
  describeRange,
  formatRange,
  parseInstant,
  parseRange,
  parseRequestedRange,
  type RangeText,
  timeBefore,
} from '../../src/candles/time-range.js'
import { thrownBy } from '../support/thrown-by.js'

const iso = (time: number) => new Date(time).toISOString()
/** 31 March 2024, noon. */
const NOW = 1_711_886_400_000

describe('parseInstant reads UTC, whatever the time zone of the system', () => {
  test.each([
    ['2024', '2024-01-01T00:00:00.000Z'],
    ['2024-02', '2024-02-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2024-02-29T12:34', '2024-02-29T12:34:00.000Z'],
    ['2024-02-29T12:34:56.789', '2024-02-29T12:34:56.789Z'],
    ['2024-02-29t12:34z', '2024-02-29T12:34:00.000Z'],
    ['2024-02-29T00:30+01:00', '2024-02-28T23:30:00.000Z'],
    ['2024-02-29 12:34:56.5+05:30', '2024-02-29T07:04:56.500Z'],
    ['2024-02-29T24:00', '2024-03-01T00:00:00.000Z'],
    [' 2024-02-29\n', '2024-02-29T00:00:00.000Z'],
  ])('%j is %s', (text, instant) => {
    expect(iso(parseInstant(text, NOW))).toBe(instant)
  })

  test.each([
    ['now', '2024-03-31T12:00:00.000Z'],
    ['today', '2024-03-31T00:00:00.000Z'],
    ['yesterday', '2024-03-30T00:00:00.000Z'],
    [' Today\n', '2024-03-31T00:00:00.000Z'],
    ['-7d', '2024-03-24T12:00:00.000Z'],
    ['-30m', '2024-03-31T11:30:00.000Z'],
    ['-2w', '2024-03-17T12:00:00.000Z'],
    ['-1M', '2024-02-29T12:00:00.000Z'],
    ['-1y', '2023-03-31T12:00:00.000Z'],
    ['1704067200', '2024-01-01T00:00:00.000Z'],
    ['1704067200123', '2024-01-01T00:00:00.123Z'],
  ])('%j on 31 March 2024 at noon is %s', (text, instant) => {
    expect(iso(parseInstant(text, NOW))).toBe(instant)
  })

  test('a number is whole milliseconds, and a Date is its time', () => {
    expect([parseInstant(1_704_067_200_123, 0), parseInstant(new Date(-1), 0)]).toEqual([1_704_067_200_123, -1])
    // Seconds would be a day of January 1970.
    expect(() => parseInstant(1_704_067_200, 0)).toThrow('1704067200')
    for (const time of [0.5, Number.NaN, 8.64e15 + 1, new Date(Number.NaN)])
      expect(thrownBy(() => parseInstant(time, NOW)).code).toBe('bad_time')
  })

  test.each([
    // Lord Howe Island, the time zone of this test, is 10.5 or 11 hours ahead of UTC: there it is the next day.
    ['2024-02-29T23:59:59.999Z', '2024-02-29T00:00:00.000Z', '2024-02-28T00:00:00.000Z'],
    ['2024-03-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z', '2024-02-29T00:00:00.000Z'],
  ])('at %s, today starts at %s and yesterday at %s', (now, today, yesterday) => {
    expect(iso(parseInstant('today', Date.parse(now)))).toBe(today)
    expect(iso(parseInstant('yesterday', Date.parse(now)))).toBe(yesterday)
  })

  test.each([
    ...['2024-02-31', '2024-13', '2023-02-29', '2024-01-01T25:00', '2024-01-01T12', '2024-01-01T12:00+25:00'],
    ...['24', '20240101', '170406720', '17040672000000', '1704067200.5', '01/02/2024', 'tomorrow'],
    ...['7d', '-7', '-7D', '-0d', '-1.5d', '', '2024-01-01T12:00:00.Z'],
  ])('%j is refused', text => {
    const error = thrownBy(() => parseInstant(text, NOW))
    expect(error.code).toBe('bad_time')
    expect(error.message).toContain(`"${text}" is not a point in time.`)
    expect(error.message).toContain('Expected YYYY, YYYY-MM, YYYY-MM-DD or an ISO instant')
    expect(error.message).toContain(
      'now, today, yesterday or -7d (m, h, d, w, M, y); or a Unix time of 10 digits (s) or 13',
    )
  })
})

describe('timeBefore', () => {
  test.each([
    ['2024-03-31T12:00:00.000Z', '1M', '2024-02-29T12:00:00.000Z'],
    ['2024-03-31T12:00:00.000Z', '13M', '2023-02-28T12:00:00.000Z'],
    ['2024-02-29T00:00:00.000Z', '1y', '2023-02-28T00:00:00.000Z'],
    ['2024-03-31T12:00:00.000Z', '36h', '2024-03-30T00:00:00.000Z'],
    // In the time zone of this test, Lord Howe Island, clocks changed by half an hour on these two days.
    ['2024-04-07T06:00:00.000Z', '1d', '2024-04-06T06:00:00.000Z'],
    ['2024-10-06T06:00:00.000Z', '24h', '2024-10-05T06:00:00.000Z'],
  ])('%s minus %s is %s', (end, length, start) => {
    expect(iso(timeBefore(Date.parse(end), length))).toBe(start)
  })

  test.each(['0d', '90', 'd', '-1d', '1.5d', '1D', '90 d', '1d2h', '', '1000000d', '999999y', '1e3d', '٣d'])(
    '%j is refused',
    text => {
      expect(thrownBy(() => timeBefore(NOW, text)).code).toBe('bad_time')
    },
  )
})

test.each<[RangeText, string, string, boolean]>([
  [{}, '-', '-', false],
  [{ from: '-7d' }, '2024-03-24 12:00', '-', false],
  [{ from: '2024', to: '2024-02' }, '2024-01-01 00:00', '2024-02-01 00:00', false],
  [{ to: 'today' }, '-', '2024-03-31 00:00', true],
  // It reaches up to now.
  [{ last: '36h' }, '2024-03-30 00:00', '2024-03-31 12:00', true],
  [{ last: '1d', to: '2024-02' }, '2024-01-31 00:00', '2024-02-01 00:00', false],
])(
  'a requested range knows which ends it names, and whether its end moves on %j: %s to %s, %s',
  (range, from, to, moves) => {
    const { named, endMoves } = parseRequestedRange(range, NOW)
    expect([formatTime(named.from), formatTime(named.to), endMoves]).toEqual([from, to, moves])
  },
)

test.each<[RangeText, string]>([
  [{}, '../..'],
  [{ from: '2024' }, '2024-01-01T00:00:00.000Z/..'],
  [{ last: '1d', to: '2024-07' }, '2024-06-30T00:00:00.000Z/2024-07-01T00:00:00.000Z'],
  [{ last: ' 90d ' }, 'last 90d'],
  [{ from: '-7d', to: 'today' }, 'from -7d to today'],
  [{ from: '2024', to: '-1d' }, 'from 2024 to -1d'],
  [{ from: '2024-01-01 12:00', to: 'now' }, 'from 2024-01-01 12:00 to now'],
])('a described range %j is %s', (range, text) => {
  expect(describeRange(range)).toBe(text)
})

describe('parseRange', () => {
  test.each([
    [{}, '../..'],
    [{ from: '2024' }, '2024-01-01T00:00:00.000Z/..'],
    [{ to: '2024-07' }, '../2024-07-01T00:00:00.000Z'],
    [{ from: '2024', to: '2025' }, '2024-01-01T00:00:00.000Z/2025-01-01T00:00:00.000Z'],
    [{ last: '90d' }, '2024-01-01T12:00:00.000Z/..'],
    [{ from: 'yesterday', to: 'today' }, '2024-03-30T00:00:00.000Z/2024-03-31T00:00:00.000Z'],
    [{ last: '1M', to: '2024-03-31' }, '2024-02-29T00:00:00.000Z/2024-03-31T00:00:00.000Z'],
  ])('%j on 31 March 2024 is %s', (text, range) => {
    expect(formatRange(parseRange(text, NOW))).toBe(range)
  })

  test.each([
    [{ from: '2024', to: '2024' }, 'The range is empty: from 2024-01-01T00:00:00.000Z to 2024-01-01T00:00:00.000Z.'],
    [{ from: '2024-01-01T01:00+02:00', to: '2023-12-31T23:00Z' }, 'The range is empty'],
    [{ from: '-1d', to: '-7d' }, 'The range is empty'],
    [{ from: '2024', last: '1d' }, '--from and --last both say where the range starts.'],
  ])('%j is refused', (text, message) => {
    const error = thrownBy(() => parseRange(text, NOW))
    expect(error.code).toBe('bad_range')
    expect(error.message).toContain(message)
  })

  test.each([{ from: '2024-02-31' }, { to: 'x' }, { last: '90' }])('%j is refused for its time', text => {
    expect(thrownBy(() => parseRange(text, NOW)).code).toBe('bad_time')
  })
})
