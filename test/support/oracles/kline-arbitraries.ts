import fc from 'fast-check'
import type { KlineRow } from '../../../src/klines/columns.js'
import type { KnownWindow } from '../windows.js'

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength })

/** Decimals `\d+(\.\d+)?` with at most `whole` and `fraction` digits before and after the point. */
export function decimals(whole = 14, fraction = 12): fc.Arbitrary<string> {
  return fc.oneof(
    digits(1, whole),
    fc.tuple(digits(1, whole), digits(1, fraction)).map(parts => parts.join('.')),
    fc.tuple(digits(1, 9), digits(8, 8)).map(parts => parts.join('.')),
  )
}

/** Texts for the last element, many of which formats must quote or escape. */
export const oddTexts = fc.oneof(
  fc.string({ unit: fc.constantFrom(',', '"', '\n', '\r', '\\', ' ', 'a', '\t', "'"), maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.constantFrom('', '\ufeff', '\ufeff0', '\u0000', '\u2028', '=1+1', 'é', '名', '😀', '"', ',', 'a\r\nb'),
)

/** The same without a byte order mark in front, which JavaScript readers of Parquet and Arrow drop. */
export const readableTexts = oddTexts.filter(text => !text.startsWith('\ufeff'))

const plainTexts: fc.Arbitrary<string> = fc.constantFrom('0', '', 'Ignore', '1.5')

/** Valid rows of a window, as the service could serve them. */
export function klineRows(
  { span }: KnownWindow,
  { maxRows = 6, ignore = plainTexts, decimal = decimals() } = {},
): fc.Arbitrary<KlineRow[]> {
  const { startTime, endTime } = span
  const row = fc
    .tuple(
      fc.array(decimal, { minLength: 8, maxLength: 8 }),
      fc.oneof(fc.nat(90_000_000), fc.constant(0)),
      fc.oneof(fc.nat(237_616_543), fc.maxSafeInteger()),
      ignore,
    )
    .map(([texts, length, count, last]) => ({ texts, length, count, last }))
  const openTimes = fc.uniqueArray(
    fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: startTime, max: endTime - 1 }) },
      { weight: 1, arbitrary: fc.constantFrom(startTime, endTime - 1) },
    ),
    { maxLength: maxRows },
  )
  return openTimes.chain(times => {
    const sorted = times.toSorted((a, b) => a - b)
    return fc.array(row, { minLength: sorted.length, maxLength: sorted.length }).map(rows =>
      rows.map(({ texts, length, count, last }, index): KlineRow => {
        const [a, b, c, d, e, f, g, h] = texts
        return [sorted[index], a, b, c, d, e, sorted[index] + length, f, count, g, h, last]
      }),
    )
  })
}
