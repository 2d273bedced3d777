/** Digits after the point that DECIMAL(38,8) keeps. */
export const DECIMAL_SCALE = 8
/** Digits of DECIMAL(38,8) in all. */
export const DECIMAL_PRECISION = 38

/**
 * The value of a decimal (`\d+(\.\d+)?`) in units of 10^-8. Returns undefined when it has no exact DECIMAL(38,8): more than
 * 8 digits after the point (zeros at the end do not count) or more than 30 before it.
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

/** A decimal without needless zeros: `0012.3400` is `12.34`, `5.000` is `5`. */
export function trimDecimal(text: string): string {
  const whole = text.replace(/^0+(?=\d)/, '')
  return whole.includes('.') ? whole.replace(/\.?0+$/, '') : whole
}

/** The shortest text of a double, written without an exponent. */
function withoutExponent(value: number): string {
  const text = String(value)
  const [, digits, fraction = '', exponent] = /^(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  if (digits === undefined) return text
  const power = Number(exponent)
  if (power < 0) return `0.${'0'.repeat(-power - 1)}${digits}${fraction}`
  return digits + fraction.padEnd(power, '0')
}
