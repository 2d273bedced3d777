const DOT = 0x2e
const ZERO = 0x30

/** Digits after the point that DECIMAL(38,8) keeps. */
export const DECIMAL_SCALE = 8
/** Digits of DECIMAL(38,8) in all, and so 30 before the point. */
export const DECIMAL_PRECISION = 38
/** 32-bit words of a 128-bit integer. */
export const WORDS_PER_DECIMAL = 4

/** Powers of ten that a double holds exactly and that take part in one multiplication below. */
const POWERS = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent)
/** Digits taken at once: 10^6 * 2^32 + 10^6 stays below 2^53, so the arithmetic in doubles is exact. */
const DIGITS_AT_ONCE = 6
const WORD = 2 ** 32
/** Significant digits that every double gives back (IEEE 754 binary64). */
const SAFE_DIGITS = 15

const decoder = new TextDecoder()

/**
 * Writes the decimal text `bytes[start, end)` (`\d+(\.\d+)?`) as a scaled 128-bit integer, 8 digits after the point, into
 * four little-endian words of `out` at `at`. From digits to bits, never through a float.
 * Returns false when the value has no exact DECIMAL(38,8): more than 8 decimals (trailing zeros do not count) or more
 * than 30 digits before the point.
 */
export function writeDecimal128(bytes: Uint8Array, start: number, end: number, out: Uint32Array, at: number): boolean {
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
 * is: up to 2^53 and 22 decimals by one exact division (Clinger's fast path), beyond that through `Number`.
 * Returns false when the double has lost digits: its shortest text is another number. (Written rather than returned: a
 * double that is returned is boxed, 60 MB of garbage for 600,000 rows.)
 */
export function writeDouble(bytes: Uint8Array, start: number, end: number, out: Float64Array, at: number): boolean {
  let mantissa = 0
  let decimals = -1
  for (let i = start; i < end; i++) {
    const byte = bytes[i]
    if (byte === DOT) decimals = 0
    else {
      mantissa = mantissa * 10 + (byte - ZERO)
      if (decimals >= 0) decimals++
    }
  }
  if (mantissa <= Number.MAX_SAFE_INTEGER && decimals <= 22) {
    out[at] = mantissa / POWERS[Math.max(0, decimals)]
    // Only here: further out a double may be 0, Infinity or subnormal, and lose even one digit.
    if (significantDigits(bytes, start, end) <= SAFE_DIGITS) return true
  } else out[at] = Number(decoder.decode(bytes.subarray(start, end)))
  return trimDecimal(plainText(out[at])) === trimDecimal(decoder.decode(bytes.subarray(start, end)))
}

/** Digits from the first to the last that is not 0. */
function significantDigits(bytes: Uint8Array, start: number, end: number): number {
  let first = start
  let last = end
  while (first < last && (bytes[first] === ZERO || bytes[first] === DOT)) first++
  while (last > first && (bytes[last - 1] === ZERO || bytes[last - 1] === DOT)) last--
  const point = bytes.indexOf(DOT, first)
  return last - first - (point !== -1 && point < last ? 1 : 0)
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
