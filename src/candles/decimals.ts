/** Digits of DECIMAL(38,8) after the point. */
export const DECIMAL_SCALE = 8

/** A decimal without needless zeros: `0012.3400` is `12.34`, `5.000` is `5`. */
export function trimDecimal(text: string): string {
  const whole = text.replace(/^0+(?=\d)/, '')
  return whole.includes('.') ? whole.replace(/\.?0+$/, '') : whole
}

/** Compares two decimals (`\d+(\.\d+)?`) exactly: negative when `a` is the smaller one. */
export function compareDecimals(a: string, b: string): number {
  const [unitsA, unitsB] = toUnits(a, b)
  return unitsA === unitsB ? 0 : unitsA < unitsB ? -1 : 1
}

/** The change from one decimal to another, rounded half away from zero: `+13.15%`. Undefined when `from` is 0. */
export function formatChange(from: string, to: string): string | undefined {
  const [start, end] = toUnits(from, to)
  if (start === 0n) return undefined
  const size = end < start ? start - end : end - start
  const hundredths = (size * 20_000n + start) / (2n * start)
  const sign = hundredths === 0n ? '' : end < start ? '-' : '+'
  return `${sign}${shiftPoint(String(hundredths), -2)}%`
}

/** A whole number times a power of ten: `shiftPoint('25', -1)` is `2.5`. */
export function shiftPoint(digits: string, exponent: number): string {
  if (exponent >= 0) return digits === '0' ? digits : digits + '0'.repeat(exponent)
  const padded = digits.padStart(1 - exponent, '0')
  return `${padded.slice(0, exponent)}.${padded.slice(exponent)}`
}

/** The sum of two decimals, with as many digits after the point as the one that has more. */
export function addDecimals(a: string, b: string): string {
  const [unitsA, unitsB] = toUnits(a, b)
  const digits = Math.max(...[a, b].map(text => text.split('.')[1]?.length ?? 0))
  return shiftPoint(String(unitsA + unitsB), -digits)
}

/** Decimals as whole numbers of the smallest unit that one of them has. */
function toUnits(...texts: string[]): bigint[] {
  const parts = texts.map(text => text.split('.'))
  const digits = Math.max(...parts.map(([, fraction = '']) => fraction.length))
  return parts.map(([whole, fraction = '']) => BigInt(whole + fraction.padEnd(digits, '0')))
}
