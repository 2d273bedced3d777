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
