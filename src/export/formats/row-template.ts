import { type KlineBatch, OFFSETS_PER_ROW } from '../../klines/batch/kline-batch.js'
import { COLUMN_KINDS, COLUMNS } from '../../klines/columns.js'
import { KlinesError } from '../../klines/errors.js'
import { type CopiedCell, type Literal, WasmRowWriter } from '../../klines/kernel/row-writer.js'
import type { SeriesLabel } from '../../klines/series.js'
import { isSeriesColumn, type OutputColumn, type RowFormat, type TimeFormat } from '../row-format.js'
import { type ByteBuffer, copySource } from './byte-buffer.js'

/** How a text format puts a row together. Everything but the cells themselves is fixed text. */
export interface RowSyntax {
  readonly rowStart: string
  readonly rowEnd: string
  /** What stands before a cell, after the one before it. */
  before(column: OutputColumn, index: number): string
  /** What stands around a cell that is text in this format. */
  readonly quote: string
  /** A text cell that is not plain, as it is written between nothing: quoting included. */
  escape(text: string): string
}

/** One cell of the template and the fixed text in front of it. */
interface Slot extends CopiedCell {
  readonly literal: Literal
  readonly write: 'copy' | 'escape' | 'seconds' | 'micros' | 'iso'
}

/** Characters of the longest time any format writes. */
const TIME_CHARACTERS = 32
/** The last moment ISO 8601 as JavaScript writes it can say, ms. */
const MAX_DATE_MS = 8.64e15

const encoder = new TextEncoder()
const ZERO = 0x30
const MINUS = 0x2d
const ZEROS = literalOf('000')
const POINT = literalOf('.')

/**
 * Rows of one series in a text format: cells are copied byte by byte from the batch between fixed pieces of text, so that
 * no number is ever read and written again.
 */
export class RowTemplate {
  private readonly slots: Slot[] = []
  private readonly end: Literal
  /** Where every cell is copied. */
  private readonly copied: WasmRowWriter | undefined
  /** Bytes a row takes beyond the cells it copies, at the most. */
  private readonly fixedBytes: number

  constructor(
    series: SeriesLabel,
    { columns, timeFormat }: RowFormat,
    private readonly syntax: RowSyntax,
    plain: boolean,
  ) {
    let literal = syntax.rowStart
    for (const [index, name] of columns.entries()) {
      literal += syntax.before(name, index)
      if (isSeriesColumn(name)) {
        literal += syntax.quote + series[name] + syntax.quote
        continue
      }
      const column = COLUMNS.indexOf(name)
      const { write, open, close } = this.cellForm(column, timeFormat, plain)
      this.slots.push({
        literal: literalOf(literal + open),
        column,
        write,
      })
      literal = close
    }
    this.end = literalOf(literal + syntax.rowEnd)
    const isCopied = this.slots.every(({ write }) => write === 'copy')
    this.copied = isCopied ? WasmRowWriter.of(this.slots, this.end) : undefined
    this.fixedBytes = this.slots.reduce((total, slot) => total + slot.literal.length + TIME_CHARACTERS, this.end.length)
  }

  /** Writes every row of a batch. */
  write(batch: KlineBatch, out: ByteBuffer): void {
    const written = this.copied?.write(batch, out) ?? 0
    if (written < batch.length) this.writeCells(batch.rows(written, batch.length), out)
  }

  private writeCells(batch: KlineBatch, out: ByteBuffer): void {
    const { offsets, length } = batch
    const source = copySource(batch.bytes, offsets[length * OFFSETS_PER_ROW - 1])
    for (let row = 0; row < length; row++) {
      const first = row * OFFSETS_PER_ROW
      const rowBytes = this.fixedBytes + offsets[first + OFFSETS_PER_ROW - 1] - offsets[first]
      out.reserve(rowBytes)
      for (const { literal, column, write } of this.slots) {
        out.copy(literal.bytes, 0, literal.length)
        const at = first + 2 * column
        if (write === 'copy') out.copy(source, offsets[at], offsets[at + 1])
        else if (write === 'escape') {
          out.text(this.syntax.escape(batch.text(row, column)))
          // Escaping may have used up what was reserved.
          out.reserve(rowBytes)
        } else if (write === 'iso') out.text(isoTime(column === 0 ? batch.openTime(row) : batch.closeTime(row)))
        else if (write === 'micros') writeMicroseconds(source, offsets[at], offsets[at + 1], out)
        else writeSeconds(source, offsets[at], offsets[at + 1], out)
      }
      out.copy(this.end.bytes, 0, this.end.length)
    }
  }

  private cellForm(
    column: number,
    timeFormat: TimeFormat,
    plain: boolean,
  ): { write: Slot['write']; open: string; close: string } {
    const { quote } = this.syntax
    const kind = COLUMN_KINDS[column]
    if (kind === 'count') return { write: 'copy', open: '', close: '' }
    if (kind === 'text' && !plain) return { write: 'escape', open: '', close: '' }
    if (kind !== 'time') return { write: 'copy', open: quote, close: quote }
    if (timeFormat === 'iso') return { write: 'iso', open: quote, close: quote }
    if (timeFormat === 's') return { write: 'seconds', open: '', close: '' }
    return { write: timeFormat === 'us' ? 'micros' : 'copy', open: '', close: '' }
  }
}

function literalOf(text: string): Literal {
  const bytes = encoder.encode(text)
  return { bytes: copySource(bytes), length: bytes.length }
}

function secondsOf(text: string): string {
  const ms = BigInt(text)
  const [whole, rest] = [ms / 1000n, ms % 1000n]
  const sign = ms < 0n ? '-' : ''
  const digits = (value: bigint) => String(value < 0n ? -value : value)
  return sign + digits(whole) + (rest === 0n ? '' : `.${digits(rest).padStart(3, '0')}`)
}

function isoTime(ms: number): string {
  if (ms <= MAX_DATE_MS) return new Date(ms).toISOString()
  throw new KlinesError('digits_lost', `${ms} ms lies beyond the dates that --time-format iso can write.`, {
    suggestions: ['Use --time-format ms.'],
  })
}

/** Milliseconds in text as microseconds. */
function writeMicroseconds(from: DataView, start: number, end: number, out: ByteBuffer): void {
  out.copy(from, start, end)
  if (from.getUint8(start) !== ZERO) out.copy(ZEROS.bytes, 0, ZEROS.length)
}

/** Milliseconds in text as seconds. */
function writeSeconds(from: DataView, start: number, end: number, out: ByteBuffer): void {
  const point = end - 3
  // Only the first second of 1970 has fewer than four digits.
  if (point <= start || from.getUint8(start) === MINUS) {
    out.text(secondsOf(Buffer.from(from.buffer, from.byteOffset + start, end - start).toString()))
    return
  }
  out.copy(from, start, point)
  // A whole second has no decimals; any other keeps its three: no digit is lost.
  if (from.getUint8(point) === ZERO && from.getUint8(point + 1) === ZERO && from.getUint8(point + 2) === ZERO) return
  out.copy(POINT.bytes, 0, 1)
  out.copy(from, point, end)
}
