import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatRecordLine, MAX_LINE_BYTES, parseRecordLine, type RecordLine } from '../../src/mirror/record-lines.js'

const time = fc.integer({ min: 0, max: 9_999_999_999_999 })
const name = fc.stringMatching(/^[A-Z0-9\u4e00-\u9fff]{2,12}$/)
const line: fc.Arbitrary<RecordLine> = fc.oneof(
  fc.record({
    kind: fc.constant('window' as const),
    path: name.map(symbol => `api/klines/1h/${symbol}/2024-01-01.json`),
    size: fc.integer({ min: 0, max: 16 * 1024 * 1024 }),
    sha256: fc.stringMatching(/^[0-9a-f]{64}$/),
    time,
    confirmed: time,
  }),
  fc.record({
    kind: fc.constant('candles' as const),
    folder: name.map(symbol => `api/klines/1min/${symbol}`),
    firstOpenTime: time,
    lastOpenTime: time,
  }),
)

describe('a line of the record', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(line, one => {
        const text = formatRecordLine(one)
        expect(text.endsWith('\n')).toBe(true)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_LINE_BYTES)
        expect(parseRecordLine(text.slice(0, -1))).toEqual(one)
      }),
    )
  })

  it('that is torn anywhere is none, also when another one follows in the same line', () => {
    fc.assert(
      fc.property(line, line, fc.double({ min: 0, max: 1, noNaN: true }), (one, other, share) => {
        const text = formatRecordLine(one).slice(0, -1)
        const torn = text.slice(0, Math.floor(share * text.length))
        if (torn === text) return
        expect(parseRecordLine(torn)).toBeUndefined()
        const joined = parseRecordLine(torn + formatRecordLine(other).slice(0, -1))
        expect(joined === undefined || torn === '').toBe(true)
      }),
    )
  })

  it.each([
    '',
    'window',
    'a line of a later version',
    'window api/klines/x y.json 2 0 1 1',
    `window api/klines/1h/A/2024-01-01.json 2 ${'0'.repeat(64)} 1700000000000 170000000000`,
    `window api/klines/1h/A/2024-01-01.json -2 ${'0'.repeat(64)} 1700000000000 1700000000000`,
    `window ../../etc/passwd 2 ${'0'.repeat(64)} 1700000000000 1700000000000`,
    'candles api/klines/1h/A 1e12 1700000000000',
  ])('%j is none', text => {
    expect(parseRecordLine(text)).toBeUndefined()
  })

  it('has whole milliseconds in 13 digits, whatever the time', () => {
    const times = (value: number) =>
      parseRecordLine(
        formatRecordLine({ kind: 'candles', folder: 'api/klines/1h/A', firstOpenTime: value, lastOpenTime: 5 }).trim(),
      )
    expect(times(1.9)).toMatchObject({ firstOpenTime: 1 })
    expect(times(-5)).toMatchObject({ firstOpenTime: 0 })
    expect(times(1e15)).toMatchObject({ firstOpenTime: 9_999_999_999_999 })
  })
})
