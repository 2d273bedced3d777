import { COLUMN_KINDS, COLUMNS } from '../candles/columns.js'
import type { SeriesLabel } from '../candles/series.js'
import type { OutputColumn, TimeFormat } from '../options/output-options.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { type CellSlot, WasmRowWriter } from '../rows/wasm/row-writer.js'
import type { ByteBuffer } from './buffers.js'
import { isSeriesColumn, type RowFormat } from './row-format.js'

/** How a text format builds a row. Everything but the cells is fixed text. */
export interface RowSyntax {
  readonly rowStart: string
  readonly rowEnd: string
  /** The text between a cell and the one before it. */
  before(column: OutputColumn, index: number): string
  /** The text around a cell that is text in this format. */
  readonly quote: string
  /** A text cell that needs quoting or escaping, with its quotes. */
  escape(text: string): string
}

/** A cell, the fixed text in front of it, and how its text is converted; undefined for a cell that is copied as it is. */
interface Slot extends CellSlot {
  readonly convert: ((text: string) => string) | undefined
}

/** How times are converted from their text in ms; undefined where they are that text. */
export const TIME_CONVERSIONS: Readonly<Record<TimeFormat, Slot['convert']>> = {
  ms: undefined,
  s: toSeconds,
  us: toMicroseconds,
  iso: toIso,
}

/** Rows of one series in a text format. Cells keep the digits of the source: no number is parsed and written again. */
export class RowTemplate {
  private readonly slots: Slot[] = []
  private readonly end: string
  /** Writes rows of which every cell is copied as it is. */
  private readonly writer: WasmRowWriter | undefined
  private readonly series: SeriesLabel
  private readonly plain: boolean

  constructor({ series, plain }: KlineBatch, { columns, timeFormat }: RowFormat, syntax: RowSyntax) {
    this.series = series
    this.plain = plain
    let literal = syntax.rowStart
    for (const [index, name] of columns.entries()) {
      literal += syntax.before(name, index)
      if (isSeriesColumn(name)) {
        literal += syntax.quote + series[name] + syntax.quote
        continue
      }
      const column = COLUMNS.indexOf(name)
      const kind = COLUMN_KINDS[column]
      const isEscaped = kind === 'text' && !plain
      const isNumber = kind === 'count' || (kind === 'time' && timeFormat !== 'iso')
      const quote = isEscaped || isNumber ? '' : syntax.quote
      const toEscaped = isEscaped ? (text: string) => syntax.escape(text) : undefined
      const convert = kind === 'time' ? TIME_CONVERSIONS[timeFormat] : toEscaped
      this.slots.push({ literal: literal + quote, column, convert })
      literal = quote
    }
    this.end = literal + syntax.rowEnd
    const isCopied = this.slots.every(({ convert }) => convert === undefined)
    this.writer = isCopied ? WasmRowWriter.create(this.slots, this.end) : undefined
  }

  /** Whether this template is made for the rows of a batch. */
  fits({ series, plain }: KlineBatch): boolean {
    return plain === this.plain && series.symbol === this.series.symbol && series.interval === this.series.interval
  }

  /** Writes every row of a batch. */
  write(batch: KlineBatch, out: ByteBuffer): void {
    const written = this.writer?.write(batch, bytes => out.append(bytes)) ?? 0
    for (let row = written; row < batch.length; row++) {
      let text = ''
      for (const { literal, column, convert } of this.slots) {
        const cell = batch.text(row, column)
        text += literal + (convert ? convert(cell) : cell)
      }
      out.text(text + this.end)
    }
  }
}

function toMicroseconds(ms: string): string {
  return ms === '0' ? ms : `${ms}000`
}

/** A whole second has no decimals; any other time keeps its three. */
function toSeconds(ms: string): string {
  const sign = ms.startsWith('-') ? '-' : ''
  const digits = ms.slice(sign.length).padStart(4, '0')
  const [whole, rest] = [digits.slice(0, -3), digits.slice(-3)]
  return sign + whole + (rest === '000' ? '' : `.${rest}`)
}

function toIso(ms: string): string {
  return new Date(Number(ms)).toISOString()
}
