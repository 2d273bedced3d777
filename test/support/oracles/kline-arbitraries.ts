import fc from 'fast-check'
import type { KlineRow } from '../../../src/candles/columns.js'
import type { KnownWindow } from '../windows.js'
import { isOnGrid, nextOpenTime } from './window-oracle.js'

const DAY = 86_400_000

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

/** When the candles of a window can open, ms UTC; those of 3d are counted from its second day. */
export function openTimesOf({ window: { interval }, span: { startTime, endTime } }: KnownWindow): number[] {
  let time = startTime
  while (!isOnGrid(interval, time, startTime + DAY)) time += DAY
  const times: number[] = []
  for (; time < endTime; time = nextOpenTime(interval, time)) times.push(time)
  return times
}

/** Valid rows of a window, as the service could serve them. */
export function klineRows(
  known: KnownWindow,
  { maxRows = 6, ignore = plainTexts, decimal = decimals() } = {},
): fc.Arbitrary<KlineRow[]> {
  const row = fc
    .tuple(
      fc.array(decimal, { minLength: 8, maxLength: 8 }),
      // Thousandths of the candle after which it closes.
      fc.oneof(fc.nat(1000), fc.constantFrom(0, 1000)),
      fc.oneof(fc.nat(237_616_543), fc.maxSafeNat()),
      ignore,
    )
    .map(([texts, part, count, last]) => ({ texts, part, count, last }))
  const possible = openTimesOf(known)
  const openTimes = fc.uniqueArray(
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...possible) },
      { weight: 1, arbitrary: fc.constantFrom(possible[0], possible[possible.length - 1]) },
    ),
    { maxLength: maxRows },
  )
  return openTimes.chain(times => {
    const sorted = times.toSorted((a, b) => a - b)
    return fc.array(row, { minLength: sorted.length, maxLength: sorted.length }).map(rows =>
      rows.map(({ texts, part, count, last }, index): KlineRow => {
        const [a, b, c, d, e, f, g, h] = texts
        const openTime = sorted[index]
        const lastTime = nextOpenTime(known.window.interval, openTime) - 1
        const closeTime = openTime + Math.floor(((lastTime - openTime) * part) / 1000)
        return [openTime, a, b, c, d, e, closeTime, f, count, g, h, last]
      }),
    )
  })
}
