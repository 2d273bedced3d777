import type { Encoding } from 'hyparquet'
import { type Column, NumberColumn } from '../columns.js'
import { RunColumn, spreadRuns, type TextRun, type Texts } from '../text-columns.js'

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

export function takePage(column: Column, length: number, dictionary: Dictionary): Page {
  if (column instanceof NumberColumn) {
    const { bytes, min, max } = column.take(length)
    // Readers may take a zero for either one, so the format requires the lower one as the least value.
    return { bytes, encoding: 'PLAIN', values: length, min: min === 0 ? -0 : min, max }
  }
  return column instanceof RunColumn ? dictionary.encode(column.take(), length) : plainPage(column.take(length))
}

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

/** The distinct texts of a column chunk: its pages are runs of indexes into them. */
export class Dictionary {
  private indexes = new Map<string, number>()

  encode(runs: readonly TextRun[], values: number): Page {
    let [min, max] = [runs[0].text, runs[0].text]
    for (const { text } of runs) {
      if (!this.indexes.has(text)) this.indexes.set(text, this.indexes.size)
      if (text < min) min = text
      if (text > max) max = text
    }
    return { bytes: encodeRuns(runs, this.indexes), encoding: 'RLE_DICTIONARY', values, min, max }
  }

  /** The texts of all pages, after which the next row group begins; undefined without any. */
  take(): EncodedValues | undefined {
    const texts = [...this.indexes.keys()]
    this.indexes = new Map()
    if (texts.length === 0) return undefined
    const runs = texts.map(text => ({ text, rows: 1 }))
    return { bytes: encodePlain(spreadRuns(runs, runs.length)), values: runs.length }
  }
}

/** Parquet's hybrid of runs and bit-packed values, of which these are runs: twice the number of rows, then the index. */
function encodeRuns(runs: readonly TextRun[], indexes: ReadonlyMap<string, number>): Uint8Array {
  const bits = Math.max(1, 32 - Math.clz32(indexes.size - 1))
  const bytes = [bits]
  for (const { text, rows } of runs) {
    const index = indexes.get(text) ?? 0
    let rest = 2 * rows
    for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128)
    bytes.push(rest)
    for (let bit = 0; bit < bits; bit += 8) bytes.push((index >>> bit) & 255)
  }
  return Uint8Array.from(bytes)
}
