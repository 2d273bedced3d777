import { trimDecimal } from '../klines/batch/decimals.js'

/** Compares two decimals (`\d+(\.\d+)?`) exactly: negative when `a` is the smaller one. */
export function compareDecimals(a: string, b: string): number {
  const [wholeA, fractionA = ''] = trimDecimal(a).split('.')
  const [wholeB, fractionB = ''] = trimDecimal(b).split('.')
  if (wholeA.length !== wholeB.length) return wholeA.length - wholeB.length
  if (wholeA !== wholeB) return wholeA < wholeB ? -1 : 1
  if (fractionA === fractionB) return 0
  // A text that is the start of another one sorts before it, as the shorter fraction is the smaller one.
  return fractionA < fractionB ? -1 : 1
}

/**
 * The change from one decimal to another in percent with two digits after the point, rounded half away from zero: `+13.15%`.
 * Undefined when `from` is 0.
 */
export function formatChange(from: string, to: string): string | undefined {
  const digits = Math.max(...[from, to].map(text => text.split('.')[1]?.length ?? 0))
  const [start, end] = [from, to].map(text => toUnits(text, digits))
  if (start === 0n) return undefined
  const difference = end - start
  const size = difference < 0n ? -difference : difference
  const hundredths = (size * 20_000n + start) / (2n * start)
  const sign = hundredths === 0n ? '' : difference < 0n ? '-' : '+'
  return `${sign}${shiftPoint(String(hundredths), -2)}%`
}

/** A whole number times a power of ten, as text: `shiftPoint('25', -1)` is `2.5`, with as many digits after the point. */
export function shiftPoint(digits: string, exponent: number): string {
  if (exponent >= 0) return digits === '0' ? digits : digits + '0'.repeat(exponent)
  const padded = digits.padStart(1 - exponent, '0')
  return `${padded.slice(0, exponent)}.${padded.slice(exponent)}`
}

function toUnits(text: string, digits: number): bigint {
  const [whole, fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(digits, '0'))
}
