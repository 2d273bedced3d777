import { DECIMAL_SCALE, shiftPoint, trimDecimal } from '../candles/decimals.js'

/** Digits of DECIMAL(38,8) in all. */
export const DECIMAL_PRECISION = 38

/**
 * A decimal (`\d+(\.\d+)?`) in units of 10^-8; undefined for more than 8 digits after the point (zeros at the end do not
 * count) or more than 30 before it.
 */
export function parseDecimal(text: string): bigint | undefined {
  const [whole, fraction = ''] = trimDecimal(text).split('.')
  if (whole.length > DECIMAL_PRECISION - DECIMAL_SCALE || fraction.length > DECIMAL_SCALE) return undefined
  return BigInt(whole + fraction.padEnd(DECIMAL_SCALE, '0'))
}

/** Whether the shortest text of a double is the same number as a decimal. */
export function isSameNumber(double: number, decimal: string): boolean {
  return trimDecimal(withoutExponent(double)) === trimDecimal(decimal)
}

function withoutExponent(value: number): string {
  const text = String(value)
  const [, digits, fraction = '', power] = /^(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  return digits === undefined ? text : shiftPoint(digits + fraction, Number(power) - fraction.length)
}
