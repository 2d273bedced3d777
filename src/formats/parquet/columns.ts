import type { Encoding } from 'hyparquet'
import { NumberColumn, type TextColumn } from '../columns.js'

/** A text is a string of its UTF-8 bytes, so that `<` compares bytes. */
export type Bound = number | bigint | string

export interface EncodedValues {
  readonly bytes: Uint8Array
  readonly values: number
}

/** The values of one column in some rows. */
export interface Page extends EncodedValues {
  readonly encoding: Extract<Encoding, 'PLAIN' | 'RLE_DICTIONARY'>
  readonly min: Bound
  readonly max: Bound
}

export function takePage(column: NumberColumn | TextColumn, length: number, dictionary: Dictionary | undefined): Page {
  if (column instanceof NumberColumn) {
    const { bytes, min, max } = column.take(length)
    // Readers may take a zero for either one, so the format requires the lower one as the least value.
    return { bytes, encoding: 'PLAIN', values: length, min: min === 0 ? -0 : min, max }
  }
  const texts = column.take(length)
  return dictionary ? dictionary.encode(texts) : plainPage(texts)
}

type Texts = ReturnType<TextColumn['take']>

/** PLAIN is the length of each text in 4 bytes, little-endian, and its bytes. */
function encodePlain({ bytes, ends }: Texts): Uint8Array {
  const plain = Buffer.allocUnsafeSlow(bytes.length + 4 * (ends.length - 1))
  let to = 0
  for (let index = 1; index < ends.length; index++) {
    const [start, end] = [ends[index - 1], ends[index]]
    to = plain.writeUInt32LE(end - start, to)
    for (let i = start; i < end; i++) plain[to++] = bytes[i]
  }
  return plain
}

function plainPage(texts: Texts): Page {
  const values = texts.ends.length - 1
  let [min, max] = [0, 0]
  for (let index = 1; index < values; index++) {
    if (compareTexts(texts, index, min) < 0) min = index
    if (compareTexts(texts, index, max) > 0) max = index
  }
  const bounds = { min: toLatin1(texts, min), max: toLatin1(texts, max) }
  return { bytes: encodePlain(texts), encoding: 'PLAIN', values, ...bounds }
}

/** Compares two texts byte by byte; faster than Buffer.compare for some bytes. */
function compareTexts({ bytes, ends }: Texts, index: number, other: number): number {
  const [start, otherStart] = [ends[index], ends[other]]
  const [length, otherLength] = [ends[index + 1] - start, ends[other + 1] - otherStart]
  for (let i = 0; i < length && i < otherLength; i++) {
    if (bytes[start + i] !== bytes[otherStart + i]) return bytes[start + i] - bytes[otherStart + i]
  }
  return length - otherLength
}

function toLatin1({ bytes, ends }: Texts, index: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + ends[index], ends[index + 1] - ends[index]).toString('latin1')
}

/** An index of a dictionary in a number of consecutive rows. */
interface Run {
  readonly index: number
  rows: number
}

/** The distinct texts of a column chunk: its pages are runs of indexes into them. */
export class Dictionary {
  /** The index of each text, whose bytes are a latin1 string. */
  private indexes = new Map<string, number>()

  encode(texts: Texts): Page {
    const runs: Run[] = []
    const values = texts.ends.length - 1
    let [min, max] = ['', '']
    for (let row = 0; row < values; row++) {
      const last = runs.at(-1)
      if (last && compareTexts(texts, row, row - 1) === 0) {
        last.rows++
        continue
      }
      const text = toLatin1(texts, row)
      const index = this.indexes.get(text) ?? this.indexes.size
      this.indexes.set(text, index)
      runs.push({ index, rows: 1 })
      if (row === 0 || text < min) min = text
      if (row === 0 || text > max) max = text
    }
    return { bytes: encodeRuns(runs, this.indexes.size), encoding: 'RLE_DICTIONARY', values, min, max }
  }

  /** The texts of all pages, after which the next row group begins; undefined without any. */
  take(): EncodedValues | undefined {
    const values = [...this.indexes.keys()]
    this.indexes = new Map()
    if (values.length === 0) return undefined
    const ends = [0]
    for (const { length } of values) ends.push(ends[ends.length - 1] + length)
    const texts = { bytes: Buffer.from(values.join(''), 'latin1'), ends: Int32Array.from(ends) }
    return { bytes: encodePlain(texts), values: values.length }
  }
}

/** Parquet's hybrid of runs and bit-packed values, of which these are runs: twice the number of rows, then the index. */
function encodeRuns(runs: readonly Run[], values: number): Uint8Array {
  const bits = Math.max(1, 32 - Math.clz32(values - 1))
  const bytes = [bits]
  for (const { index, rows } of runs) {
    let rest = 2 * rows
    for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128)
    bytes.push(rest)
    for (let bit = 0; bit < bits; bit += 8) bytes.push((index >>> bit) & 255)
  }
  return Uint8Array.from(bytes)
}
