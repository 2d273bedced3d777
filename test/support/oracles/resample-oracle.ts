import type { KlineRow } from '../../../src/candles/columns.js'

/** A decimal as an integer, with the number of its digits after the point. */
function parse(text: string): { units: bigint; digits: number } {
  const [whole, fraction = ''] = text.split('.')
  return { units: BigInt(whole + fraction), digits: fraction.length }
}

/** Decimals as integers in units of 10^-`digits`, in which each of them is one. */
function toUnits(texts: readonly string[]): { values: bigint[]; digits: number } {
  const parsed = texts.map(parse)
  const digits = parsed.reduce((most, one) => Math.max(most, one.digits), 0)
  const scale = (one: { units: bigint; digits: number }) => one.units * 10n ** BigInt(digits - one.digits)
  return { values: parsed.map(one => (one.digits === digits ? one.units : scale(one))), digits }
}

function format(units: bigint, digits: number): string {
  if (digits === 0) return String(units)
  const text = String(units).padStart(digits + 1, '0')
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/**
 * The aggregate of candles by the rule of the exchange, in BigInt: open of the first, close and close time of the last, highest
 * high, lowest low, sums of the rest; of candles without trades only the close time counts, unless all have none, and that of one
 * that closes as it opens does not.
 */
export function aggregateOracle(openTime: number, all: readonly KlineRow[]): (string | number)[] {
  const traded = all.filter(row => row[8] > 0)
  const rows = traded.length > 0 ? traded : all
  const column = (index: number) => toUnits(rows.map(row => String(row[index])))
  const highest = (index: number) => {
    const { values, digits } = column(index)
    return format(
      values.reduce((best, value) => (value > best ? value : best)),
      digits,
    )
  }
  const lowest = (index: number) => {
    const { values, digits } = column(index)
    return format(
      values.reduce((best, value) => (value < best ? value : best)),
      digits,
    )
  }
  const sum = (index: number) => {
    const { values, digits } = column(index)
    return format(
      values.reduce((total, value) => total + value, 0n),
      digits,
    )
  }
  const last = rows[rows.length - 1]
  const closed = all.findLast(row => row === last || row[6] > row[0]) as KlineRow
  const count = rows.reduce((total, row) => total + row[8], 0)
  const prices = [rows[0][1], highest(2), lowest(3), last[4]]
  return [openTime, ...prices, sum(5), closed[6], sum(7), count, sum(9), sum(10), rows[0][11]]
}

/** The value of a decimal in one form, whatever zeros it is written with. */
export function toAmount(cell: string | number): string {
  const { units, digits } = parse(String(cell))
  return format(units * 10n ** BigInt(30 - digits), 30)
}
