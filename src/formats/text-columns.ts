import { COLUMNS } from '../candles/columns.js'
import type { OutputColumn } from '../options.js'
import { isSameCell } from '../rows/diff.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { OFFSETS_PER_ROW } from '../rows/wasm/assembly/layout.js'
import type { Kernel, RowAddress } from '../rows/wasm/kernel.js'
import { WasmRowWriter } from '../rows/wasm/row-writer.js'
import { isSeriesColumn } from './row-format.js'

/** Rows of a batch, and where a kernel finds them until it reads another window. */
export interface BatchRows {
  readonly batch: KlineBatch
  readonly kernel: Kernel
  readonly address: RowAddress
}

/** Columns with few distinct texts. Of the others a dictionary makes a file larger: market data hardly repeats. */
export const RUN_COLUMNS: readonly OutputColumn[] = ['symbol', 'interval', 'ignore']

/** Consecutive rows with the same text: a string of its UTF-8 bytes (latin1), so that `<` compares bytes. */
export interface TextRun {
  readonly text: string
  rows: number
}

/** Texts that are stored once for all rows that follow each other with the same one. */
export class RunColumn {
  private runs: TextRun[] = []

  constructor(private readonly name: OutputColumn) {}

  append({ batch }: BatchRows, start: number, end: number): void {
    const { name } = this
    if (isSeriesColumn(name)) {
      this.add(Buffer.from(batch.series[name]), end - start)
      return
    }
    const column = COLUMNS.indexOf(name)
    for (let row = start; row < end; ) {
      let next = row + 1
      while (next < end && isSameCell(batch, row, batch, next, column)) next++
      const cell = row * OFFSETS_PER_ROW + 2 * column
      this.add(batch.bytes.subarray(batch.offsets[cell], batch.offsets[cell + 1]), next - row)
      row = next
    }
  }

  /** All rows. The column begins again. */
  take(): TextRun[] {
    const { runs } = this
    this.runs = []
    return runs
  }

  private add(bytes: Uint8Array, rows: number): void {
    const text = Buffer.from(bytes).toString('latin1')
    const last = this.runs.at(-1)
    if (last?.text === text) last.rows += rows
    else this.runs.push({ text, rows })
  }
}

/** Texts as UTF-8: each begins where the one before it ends, the first one at 0. */
export interface Texts {
  readonly bytes: Uint8Array
  readonly ends: Int32Array
}

/** The text of each of `length` rows. */
export function spreadRuns(runs: readonly TextRun[], length: number): Texts {
  const ends = new Int32Array(length + 1)
  let row = 0
  for (const { text, rows } of runs) {
    for (const end = row + rows; row < end; row++) ends[row + 1] = ends[row] + text.length
  }
  return { bytes: Buffer.concat(runs.map(({ text, rows }) => Buffer.alloc(text.length * rows, text, 'latin1'))), ends }
}

/** Cells as the source has them. */
export class TextColumn {
  private readonly column: number
  private readonly writer: WasmRowWriter
  private readonly ends: Int32Array<ArrayBuffer>
  private parts: Uint8Array[] = []

  constructor(name: OutputColumn, rows: number) {
    this.column = COLUMNS.indexOf(name as (typeof COLUMNS)[number])
    this.writer = new WasmRowWriter([{ literal: '', column: this.column }], '')
    this.ends = new Int32Array(rows + 1)
  }

  append({ batch }: BatchRows, start: number, end: number, to: number): void {
    const { offsets } = batch
    this.writer.write(batch.rows(start, end), texts => this.parts.push(Buffer.from(texts)))
    for (let row = start; row < end; row++) {
      const cell = row * OFFSETS_PER_ROW + 2 * this.column
      this.ends[to + row - start + 1] = this.ends[to + row - start] + offsets[cell + 1] - offsets[cell]
    }
  }

  /** The first `length` texts, valid until more are added. The column begins again. */
  take(length: number): Texts {
    const bytes = Buffer.concat(this.parts)
    this.parts = []
    return { bytes, ends: this.ends.subarray(0, length + 1) }
  }
}
