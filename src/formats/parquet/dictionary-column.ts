import { COLUMNS } from '../../candles/columns.js'
import type { OutputColumn } from '../../options/output-options.js'
import { OFFSETS_PER_ROW } from '../../rows/wasm/assembly/layout.js'
import type { BatchRows } from '../columns.js'
import { isSeriesColumn } from '../row-format.js'
import type { DictionaryPage, Page, PageColumn } from './columns.js'

/** A page that would make the dictionary larger is PLAIN: then the values hardly repeat. */
const MAX_VALUES = 1000

/** A value in a number of consecutive rows. */
interface Run {
  readonly index: number
  rows: number
}

/**
 * A text column with few distinct values that come in runs: the symbol, the interval, and the last cell of a row. Its pages are
 * runs of indexes into a dictionary.
 */
export class DictionaryColumn implements PageColumn {
  /** The bytes of each value as a latin1 string. */
  private values: string[] = []
  private readonly indexes = new Map<string, number>()
  private runs: Run[] = []
  /** How many values the pages taken so far refer to. */
  private used = 0

  constructor(private readonly name: OutputColumn) {}

  append({ batch }: BatchRows, start: number, end: number): void {
    const { name } = this
    if (isSeriesColumn(name)) {
      this.put(Buffer.from(batch.series[name]).toString('latin1'), end - start)
      return
    }
    const { bytes, offsets } = batch
    const place = 2 * COLUMNS.indexOf(name)
    for (let row = start; row < end; row++) {
      const cell = row * OFFSETS_PER_ROW + place
      this.put(latin1(bytes, offsets[cell], offsets[cell + 1]), 1)
    }
  }

  takePage(length: number): Page {
    const { runs, values } = this
    const texts = runs.map(({ index }) => values[index])
    const bounds = {
      min: texts.reduce((min, text) => (text < min ? text : min)),
      max: texts.reduce((max, text) => (text > max ? text : max)),
    }
    this.runs = []
    if (values.length <= MAX_VALUES) {
      this.used = values.length
      return { bytes: encodeRuns(runs, values.length), encoding: 'RLE_DICTIONARY', values: length, ...bounds }
    }
    for (const value of values.splice(this.used)) this.indexes.delete(value)
    const all = runs.flatMap(({ rows }, index) => Array.from({ length: rows }, () => texts[index]))
    return { bytes: encodePlain(all), encoding: 'PLAIN', values: length, ...bounds }
  }

  takeDictionary(): DictionaryPage | undefined {
    const { values } = this
    this.values = []
    this.indexes.clear()
    this.used = 0
    return values.length === 0 ? undefined : { bytes: encodePlain(values), values: values.length }
  }

  private put(value: string, rows: number): void {
    const last = this.runs.at(-1)
    if (last && this.values[last.index] === value) {
      last.rows += rows
      return
    }
    let index = this.indexes.get(value)
    if (index === undefined) {
      index = this.values.push(value) - 1
      this.indexes.set(value, index)
    }
    this.runs.push({ index, rows })
  }
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  // Nearly all cells have one byte.
  if (end === start + 1) return String.fromCharCode(bytes[start])
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}

/** Parquet's hybrid of runs and bit-packed values, of which these are runs: number of rows times 2, then the index. */
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

function encodePlain(values: readonly string[]): Uint8Array {
  const lengths = values.reduce((sum, value) => sum + value.length, 0)
  const bytes = Buffer.allocUnsafeSlow(4 * values.length + lengths)
  let end = 0
  for (const value of values) {
    end = bytes.writeUInt32LE(value.length, end)
    end += bytes.write(value, end, 'latin1')
  }
  return bytes
}
