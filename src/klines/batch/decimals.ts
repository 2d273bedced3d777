const DOT = 0x2e
const ZERO = 0x30

/** Digits after the point that DECIMAL(38,8) keeps. */
export const DECIMAL_SCALE = 8
/** Digits of DECIMAL(38,8) in all, and so 30 before the point. */
export const DECIMAL_PRECISION = 38
/** 32-bit words of a 128-bit integer. */
export const WORDS_PER_DECIMAL = 4

/** Powers of ten by their exponents, each exact in a double. */
const POWERS = Array.from({ length: 9 }, (_, exponent) => 10 ** exponent)
/** Digits taken at once: 10^6 * 2^32 + 10^6 stays below 2^53, so the arithmetic in doubles is exact. */
const DIGITS_AT_ONCE = 6
const WORD = 2 ** 32
/** Integers below this are exact in a double, and so is twice any of them. */
const EXACT = 2 ** 52
/** Bits that whole numbers below 2^52 are split at, so that each half times 10^8 is exact. */
const HALF = 2 ** 26
/** More than what a fraction below 1 can be off when it is rounded to a double (2^-54). */
const FRACTION_ERROR = 2 ** -52

const decoder = new TextDecoder()

/** A decimal as it was read: the digits before the point, those after it, and how many these are. */
const parts = { whole: 0, fraction: 0, decimals: 0 }

/** Reads a decimal of less than 2^52 before the point and at most 8 digits after it into `parts`; false for any other. */
function readParts(bytes: Uint8Array, start: number, end: number): boolean {
  let whole = 0
  let next = start
  for (let byte = bytes[next]; next < end && byte !== DOT; byte = bytes[++next]) whole = whole * 10 + (byte - ZERO)
  const decimals = Math.max(0, end - next - 1)
  if (whole >= EXACT || decimals > DECIMAL_SCALE) return false
  let fraction = 0
  while (++next < end) fraction = (fraction * 10 + (bytes[next] - ZERO)) | 0
  parts.whole = whole
  parts.fraction = fraction
  parts.decimals = decimals
  return true
}

/**
 * Writes the decimal text `bytes[start, end)` (`\d+(\.\d+)?`) as a scaled 128-bit integer, 8 digits after the point, into
 * four little-endian words of `out` at `at`. From digits to bits, never through a rounding.
 * Returns false when the value has no exact DECIMAL(38,8): more than 8 decimals (trailing zeros do not count) or more
 * than 30 digits before the point.
 */
export function writeDecimal128(bytes: Uint8Array, start: number, end: number, out: Uint32Array, at: number): boolean {
  if (!readParts(bytes, start, end)) return writeLongDecimal128(bytes, start, end, out, at)
  const { whole, fraction, decimals } = parts
  const unit = POWERS[DECIMAL_SCALE]
  const high = Math.floor(whole / HALF)
  const low = (whole - high * HALF) * unit + fraction * POWERS[DECIMAL_SCALE - decimals]
  // The value is `upper` * 2^26 and the last 26 bits of `low`; all of it is exact below 2^53.
  const carry = Math.floor(low / HALF)
  const upper = high * unit + carry
  const middle = Math.floor(upper / 64)
  const top = Math.floor(middle / WORD)
  out[at] = low - carry * HALF + (upper - middle * 64) * HALF
  out[at + 1] = middle - top * WORD
  out[at + 2] = top
  out[at + 3] = 0
  return true
}

/** The same for a text of any length. */
function writeLongDecimal128(bytes: Uint8Array, start: number, end: number, out: Uint32Array, at: number): boolean {
  out.fill(0, at, at + WORDS_PER_DECIMAL)
  let first = start
  while (first < end - 1 && bytes[first] === ZERO) first++
  const point = bytes.indexOf(DOT, first)
  const dot = point === -1 || point >= end ? end : point
  if (dot - first > DECIMAL_PRECISION - DECIMAL_SCALE) return false
  const fraction = Math.min(dot + 1, end)
  for (let over = fraction + DECIMAL_SCALE; over < end; over++) if (bytes[over] !== ZERO) return false

  let pending = 0
  let digits = 0
  // The digits before the point, then eight after it, whether or not the text has them.
  const places = dot - first + DECIMAL_SCALE
  for (let place = 0; place < places; place++) {
    const i = first + place < dot ? first + place : fraction + place - (dot - first)
    pending = pending * 10 + (i < end ? bytes[i] - ZERO : 0)
    if (++digits < DIGITS_AT_ONCE && place < places - 1) continue
    multiplyAdd(out, at, POWERS[digits], pending)
    pending = 0
    digits = 0
  }
  return true
}

/** The four words at `at`, times `factor`, plus `addend`; both at most 10^6. */
function multiplyAdd(out: Uint32Array, at: number, factor: number, addend: number): void {
  let carry = addend
  for (let word = at; word < at + WORDS_PER_DECIMAL; word++) {
    const value = out[word] * factor + carry
    out[word] = value
    carry = Math.floor(value / WORD)
  }
}

/**
 * Writes the double nearest to the decimal text `bytes[start, end)` into `out` at `at`, correctly rounded as `Number(text)`
 * is. Returns false when the double has lost digits: its shortest text is another number. (Written rather than returned: a
 * double that is returned is boxed, 60 MB of garbage for 600,000 rows.)
 */
export function writeDouble(bytes: Uint8Array, start: number, end: number, out: Float64Array, at: number): boolean {
  if (!readParts(bytes, start, end)) return writeLongDouble(bytes, start, end, out, at)
  const { whole, fraction, decimals } = parts
  const scale = POWERS[decimals]
  const digits = whole * scale + fraction
  if (digits < EXACT) {
    // One exact division is rounded as it should be (Clinger's fast path). Doubles lie closer here than decimals of so many
    // digits: no other one, so no shorter one, comes out as the same double.
    out[at] = digits / scale
    return true
  }
  const rest = fraction / scale
  const sum = whole + rest
  // The rest is rounded: the sum is right where a little more and a little less make no difference.
  if (whole + (rest - FRACTION_ERROR) !== sum || whole + (rest + FRACTION_ERROR) !== sum) {
    return writeLongDouble(bytes, start, end, out, at)
  }
  out[at] = sum
  return isText(String(sum), bytes, start, end)
}

/** The same for a text of any length. */
function writeLongDouble(bytes: Uint8Array, start: number, end: number, out: Float64Array, at: number): boolean {
  const text = decoder.decode(bytes.subarray(start, end))
  out[at] = Number(text)
  return trimDecimal(plainText(out[at])) === trimDecimal(text)
}

/** Whether a number's shortest text is that of a decimal, but for zeros at its end or its beginning. */
function isText(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  let next = start
  while (bytes[next] === ZERO && next < end - text.length) next++
  for (let i = 0; i < text.length; i++) if (bytes[next++] !== text.charCodeAt(i)) return false
  for (; next < end; next++) if (bytes[next] !== ZERO && bytes[next] !== DOT) return false
  return true
}

/** A decimal without the zeros that say nothing: `0012.3400` is `12.34`, `5.000` is `5`. */
export function trimDecimal(text: string): string {
  const whole = text.replace(/^0+(?=\d)/, '')
  return whole.includes('.') ? whole.replace(/\.?0+$/, '') : whole
}

/** A double's shortest text without an exponent. */
function plainText(value: number): string {
  const text = String(value)
  const [, digits, fraction = '', exponent] = /^(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  if (digits === undefined) return text
  const power = Number(exponent)
  if (power < 0) return `0.${'0'.repeat(-power - 1)}${digits}${fraction}`
  return digits + fraction.padEnd(power, '0')
}
