import type { Encoding } from 'hyparquet'
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js'
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js'
import { readVarInt } from 'hyparquet/src/thrift.js'

/** The values of a page as they are encoded, and how many there are. */
export interface EncodedValues {
  readonly encoding: Encoding
  readonly bytes: Uint8Array
  /** Where they start. */
  readonly start: number
  /** Their number, without those that are null. */
  readonly count: number
}

/** Some programs fill the last group of packed values up to 256. */
const PADDING = 512
const MAX_BLOCK = 1024 * 1024
const MAX_VARINT_BYTES = 10

/**
 * Throws for values that would take more memory or time than a page of `maxBytes`: the library writes as many values as a run claims,
 * whatever the page has, and repeats the start of a text as often as it is asked to.
 */
export function checkValues({ encoding, bytes, start, count }: EncodedValues, maxBytes: number): void {
  if (encoding === 'PLAIN' || encoding === 'BYTE_STREAM_SPLIT') return
  if (encoding === 'PLAIN_DICTIONARY' || encoding === 'RLE_DICTIONARY') checkPlaces(bytes, start, count)
  else if (encoding === 'DELTA_BINARY_PACKED' || encoding === 'DELTA_LENGTH_BYTE_ARRAY')
    checkDeltas(bytes, start, count)
  else if (encoding === 'DELTA_BYTE_ARRAY') checkTexts(bytes, start, count, maxBytes)
  else throw new Error(`a page has the encoding ${encoding}, which is not read`)
}

/** Places of values in a dictionary. */
function checkPlaces(bytes: Uint8Array, start: number, count: number): void {
  const width = viewOf(bytes).getUint8(start)
  if (width > 32) throw new Error(`places in a dictionary have ${width} bits, expected at most 32`)
  checkRuns(bytes, start + 1, width, count)
}

/** Texts that each start as the one before. */
function checkTexts(bytes: Uint8Array, start: number, count: number, maxBytes: number): void {
  checkDeltas(bytes, checkDeltas(bytes, start, count), count)
  const shared = new Int32Array(count)
  deltaBinaryUnpack({ view: viewOf(bytes), offset: start }, count, shared)
  const length = shared.reduce((sum, one) => sum + Math.max(0, one), 0)
  if (length > maxBytes) throw new Error(`the texts of a page have ${length} bytes, expected at most ${maxBytes}`)
}

/** How many of `count` values are there, by the runs of bits that tell which are null. Throws for runs of another number. */
export function countPresent(bytes: Uint8Array, start: number, count: number): number {
  checkRuns(bytes, start, 1, count)
  const levels = new Array<number>(count)
  readRleBitPackedHybrid({ view: viewOf(bytes), offset: start }, 1, levels, 0)
  return levels.filter(level => level === 1).length
}

/** Runs of one value, and groups of eight that are packed. */
function checkRuns(bytes: Uint8Array, start: number, width: number, count: number): void {
  const reader = { view: viewOf(bytes), offset: start }
  let left = count
  while (left > 0) {
    const head = readVarInt(reader) >>> 0
    const isPacked = head % 2 === 1
    const values = isPacked ? (head >>> 1) * 8 : head >>> 1
    if (values > (isPacked ? left + PADDING : left)) {
      throw new Error(`a run has ${values} values, expected at most ${left}`)
    }
    reader.offset += isPacked ? (values / 8) * width : Math.ceil(width / 8)
    left -= values
  }
}

/** Differences in blocks of packed values. Returns where they end. */
function checkDeltas(bytes: Uint8Array, start: number, count: number): number {
  const reader = { view: viewOf(bytes), offset: start }
  const [block, parts] = [readVarInt(reader), readVarInt(reader)]
  const size = block / parts
  if (!(parts > 0 && block <= MAX_BLOCK && size > 0 && size % 8 === 0)) {
    throw new Error(`differences are in blocks of ${block} values in ${parts} parts`)
  }
  readVarInt(reader)
  skipVarint(reader)
  for (let seen = 1; seen < count; ) {
    skipVarint(reader)
    const widths = bytes.subarray(reader.offset, reader.offset + parts)
    reader.offset += parts
    for (let i = 0; i < parts && seen < count; i++, seen += size) {
      if (!(widths[i] <= 64)) throw new Error('differences are cut off, or have more than 64 bits')
      reader.offset += (size * widths[i]) / 8
    }
  }
  return reader.offset
}

/** The library takes an integer of any length, in a time that grows with its square. */
function skipVarint(reader: { view: DataView; offset: number }): void {
  const end = reader.offset + MAX_VARINT_BYTES
  while (reader.view.getUint8(reader.offset++) >= 128) {
    if (reader.offset === end) throw new Error('a page has an integer of more than 64 bits')
  }
}

/** A view of bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
