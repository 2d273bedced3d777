/** The digit `0` in each of eight bytes. */
const ZEROS: u64 = 0x3030303030303030

/** `0` to `9` are 0x30 to 0x39. One comparison is faster than two. */
export function isDigit(byte: u32): bool {
  return (byte ^ 0x30) < 10
}

/** Whether all eight bytes at `start` are digits: their upper halves are 3, also after adding 6. */
export function areDigits(start: usize): bool {
  const upper: u64 = 0xf0f0f0f0f0f0f0f0
  const bytes = load<u64>(start)
  return ((bytes & upper) | (((bytes + 0x0606060606060606) & upper) >> 4)) === 0x3333333333333333
}

/** The value of the `count` (1 to 8) digits before `end`: adds up pairs, then fours, then all, in parallel. */
export function numberBefore(end: usize, count: u32): u64 {
  const unused = <u64>(64 - 8 * count)
  const digits = ((load<u64>(end - 8) >> unused) << unused) - ((ZEROS >> unused) << unused)
  const pairs = digits * 10 + (digits >> 8)
  const odd = (pairs & 0x000000ff000000ff) * 0x000f424000000064
  const even = ((pairs >> 16) & 0x000000ff000000ff) * 0x0000271000000001
  return (odd + even) >> 32
}

export const DOT: u32 = 0x2e
export const ZERO: u32 = 0x30
/** Decimals are integers in units of 10^-SCALE. */
export const SCALE: u32 = 8
export const UNIT: u64 = 100000000
/** The integer part must be below this, so that 128 bits hold sums of at least 10^11 values. */
const MAX_WHOLE: u64 = 1000000000000000

/** What was scanned: the part before the point, the one behind it in units of 10^-8, and its digits as written. */
export let whole: u64 = 0
export let fraction: u64 = 0
export let places: u32 = 0

/** Reads the decimal from `start` to `end`; false for more than 15 digits before the point or 8 after it. */
export function scanDecimal(start: usize, end: usize): bool {
  const length = <u32>(end - start)
  // The service writes nearly all decimals with 8 digits after the point.
  if (length > 1 + SCALE && length <= 17 + SCALE && load<u8>(end - 9) === DOT) {
    fraction = numberBefore(end, SCALE)
    places = SCALE
    if (length <= 9 + SCALE) {
      whole = numberBefore(end - 9, length - 9)
      return true
    }
    whole = numberBefore(end - 17, length - 17) * UNIT + numberBefore(end - 9, SCALE)
    return whole < MAX_WHOLE
  }
  return scanDigits(start, end)
}

function scanDigits(start: usize, end: usize): bool {
  let next = start
  whole = 0
  for (; next < end && load<u8>(next) !== DOT; next++) {
    whole = whole * 10 + (load<u8>(next) - ZERO)
    if (whole >= MAX_WHOLE) return false
  }
  next++
  fraction = 0
  places = 0
  for (let place: u32 = 0; place < SCALE; place++) {
    fraction *= 10
    if (next >= end) continue
    fraction += load<u8>(next++) - ZERO
    places++
  }
  // Further zeros do not change the value.
  for (; next < end; next++) if (load<u8>(next) !== ZERO) return false
  return true
}

/** The same into 128 bits at `to`, in units of 10^-8. */
export function readDecimal(start: usize, end: usize, to: usize): bool {
  if (!scanDecimal(start, end)) return false
  // Multiplies 64 bits by 27 bits, half by half.
  const lower = (whole & 0xffffffff) * UNIT
  const upper = (whole >> 32) * UNIT
  const low = (upper << 32) + lower
  const sum = low + fraction
  store<u64>(to, sum)
  store<u64>(to + 8, (upper >> 32) + u64(low < lower) + u64(sum < fraction))
  return true
}

/** Compares 128-bit integers. */
export function isLessThan(a: usize, b: usize): bool {
  const upperA = load<u64>(a + 8)
  const upperB = load<u64>(b + 8)
  return upperA === upperB ? load<u64>(a) < load<u64>(b) : upperA < upperB
}
