import { COLUMN_KINDS, COLUMNS } from '../klines/columns.js'
import { KlinesError } from '../klines/errors.js'
import { type KlineBatch, OFFSETS_PER_ROW } from '../klines/kline-batch.js'
import type { SeriesLabel } from '../klines/series.js'
import type { ByteWriter } from './byte-writer.js'
import { isSeriesColumn, type OutputColumn, type Shape, type TimeFormat } from './shape.js'

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
interface Slot {
  readonly literal: Uint8Array
  /** Index of the cell in a batch's row. */
  readonly column: number
  readonly write: 'copy' | 'escape' | 'seconds' | 'micros' | 'iso'
}

/** Characters of the longest time any format writes. */
const TIME_CHARACTERS = 32
/** The last moment ISO 8601 as JavaScript writes it can say, ms. */
const MAX_DATE_MS = 8.64e15

const encoder = new TextEncoder()
const ZEROS = encoder.encode('000')

/**
 * Rows of one series in a text format: cells are copied byte by byte from the batch between fixed pieces of text, so that
 * no number is ever read and written again.
 */
export class RowTemplate {
  private readonly slots: Slot[] = []
  private readonly end: Uint8Array
  /** Bytes a row takes beyond the cells it copies, at the most. */
  private readonly fixedBytes: number

  constructor(
    series: SeriesLabel,
    { columns, timeFormat }: Shape,
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
        literal: encoder.encode(literal + open),
        column,
        write,
      })
      literal = close
    }
    this.end = encoder.encode(literal + syntax.rowEnd)
    this.fixedBytes = this.slots.reduce((total, slot) => total + slot.literal.length + TIME_CHARACTERS, this.end.length)
  }

  /** Writes every row of a batch. */
  write(batch: KlineBatch, out: ByteWriter): void {
    for (let row = 0; row < batch.length; row++) {
      const first = row * OFFSETS_PER_ROW
      const rowBytes = this.fixedBytes + batch.offsets[first + OFFSETS_PER_ROW - 1] - batch.offsets[first]
      out.reserve(rowBytes)
      for (const { literal, column, write } of this.slots) {
        out.copy(literal, 0, literal.length)
        const at = first + 2 * column
        if (write === 'copy') out.copy(batch.bytes, batch.offsets[at], batch.offsets[at + 1])
        else if (write === 'escape') {
          out.text(this.syntax.escape(batch.text(row, column)))
          // Escaping may have used up what was reserved.
          out.reserve(rowBytes)
        } else if (write === 'iso') out.text(isoTime(column === 0 ? batch.openTime(row) : batch.closeTime(row)))
        else if (write === 'micros') writeMicroseconds(batch.bytes, batch.offsets[at], batch.offsets[at + 1], out)
        else writeSeconds(batch.bytes, batch.offsets[at], batch.offsets[at + 1], out)
      }
      out.copy(this.end, 0, this.end.length)
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

function secondsOf(text: Uint8Array): string {
  const ms = BigInt(Buffer.from(text).toString())
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
function writeMicroseconds(bytes: Uint8Array, start: number, end: number, out: ByteWriter): void {
  out.copy(bytes, start, end)
  if (bytes[start] !== 0x30) out.copy(ZEROS, 0, ZEROS.length)
}

/** Milliseconds in text as seconds. */
function writeSeconds(bytes: Uint8Array, start: number, end: number, out: ByteWriter): void {
  const point = end - 3
  // Only the first second of 1970 has fewer than four digits.
  if (point <= start || bytes[start] === 0x2d) {
    out.text(secondsOf(bytes.subarray(start, end)))
    return
  }
  out.copy(bytes, start, point)
  // A whole second has no decimals; any other keeps its three: no digit is lost.
  if (bytes[point] === 0x30 && bytes[point + 1] === 0x30 && bytes[point + 2] === 0x30) return
  out.byte(0x2e)
  out.copy(bytes, point, end)
}
