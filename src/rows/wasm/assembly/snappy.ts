// A port, with the same output, of snappy.js of hyparquet-writer, which is made of https://github.com/zhipeng-jia/snappyjs.
// The MIT License (MIT), Copyright (c) 2016 Zhipeng Jia. The text of that license is the one in LICENSE.

import { copy } from './write-rows'

/** The table has 2^14 addresses of 4 bytes. */
const MAX_TABLE_BITS: u32 = 14
const MAX_OFFSET: usize = 0xffff
/** So close to the end no match begins. */
const INPUT_MARGIN: usize = 15

let table: usize = 0
/** Leaves as many bits of a hash as the table has. */
let shift: u32 = 0

/**
 * Compresses `length` bytes at `from`. `scratch` has room for the table, `to` for 32 bytes and a sixth more than the input has. Returns
 * the end of the output; a few bytes behind it are overwritten.
 */
export function compressSnappy(from: usize, length: u32, scratch: usize, to: usize): usize {
  const end = from + length
  // Seven bits a byte, the lowest ones first.
  let rest = length
  for (; rest > 127; rest >>= 7) store<u8>(to++, rest | 128)
  store<u8>(to++, rest)
  let written = from
  if (length >= INPUT_MARGIN) {
    const bits = min(31 - clz(length), MAX_TABLE_BITS)
    table = scratch
    shift = 32 - bits
    memory.fill(table, 0, 4 << bits)
    exchange(from)
    const limit = end - INPUT_MARGIN
    let skip: usize = 32
    for (let at = from + 1; at <= limit; ) {
      let found = exchange(at)
      if (!isMatch(at, found)) {
        // The longer nothing is found, the more is skipped.
        at += skip >> 5
        skip++
        continue
      }
      to = writeLiteral(written, <u32>(at - written), to)
      do {
        const offset = <u32>(at - found)
        written = matchEnd(at + 4, found + 4, end)
        to = writeCopies(offset, <u32>(written - at), to)
        at = written
        if (at >= limit) break
        exchange(at - 1)
        found = exchange(at)
      } while (isMatch(at, found))
      at++
      skip = 32
    }
  }
  return written < end ? writeLiteral(written, <u32>(end - written), to) : to
}

/** Notes an address under the hash of the four bytes there, and returns the one before it. */
function exchange(at: usize): usize {
  const place = table + (((load<u32>(at) * 0x1e35a7bd) >> shift) << 2)
  const before = load<u32>(place)
  store<u32>(place, at)
  return before
}

function isMatch(at: usize, found: usize): bool {
  return at - found <= MAX_OFFSET && load<u32>(at) === load<u32>(found)
}

/** Where the bytes from `at` on begin to differ from those at `other`, before `end`. */
function matchEnd(at: usize, other: usize, end: usize): usize {
  for (; at < end; at += 8) {
    const different = load<u64>(at) ^ load<u64>(other)
    if (different !== 0) return min(end, at + <usize>(ctz(different) >> 3))
    other += 8
  }
  return end
}

function writeLiteral(from: usize, length: u32, to: usize): usize {
  const value = length - 1
  if (length <= 60) store<u8>(to++, value << 2)
  else {
    const bytes = (39 - clz(value)) >> 3
    store<u8>(to, (59 + bytes) << 2)
    store<u32>(to + 1, value)
    to += 1 + bytes
  }
  return copy(from, length, to)
}

function writeCopies(offset: u32, length: u32, to: usize): usize {
  while (length > 0) {
    let part: u32 = min(length, 64)
    // No copy has less than 4 bytes.
    if (length > 64 && length < 68) part = 60
    length -= part
    if (part < 12 && offset < 2048) {
      store<u8>(to, 1 + ((part - 4) << 2) + ((offset >> 8) << 5))
      store<u8>(to + 1, offset)
      to += 2
    } else {
      store<u8>(to, 2 + ((part - 1) << 2))
      store<u16>(to + 1, offset)
      to += 3
    }
  }
  return to
}
