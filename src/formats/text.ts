import { COLUMN_KINDS, COLUMNS } from '../candles/columns.js'
import type { Format, OutputColumn, TEXT_FORMATS, TimeFormat } from '../options.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { type CellSlot, WasmRowWriter } from '../rows/wasm/row-writer.js'
import type { Exporter, ExporterOptions } from './exporter.js'
import { isSeriesColumn, type RowFormat } from './row-format.js'

/** A text format. Everything but the cells is fixed text. */
interface TextSyntax {
  /** The text before and after all rows. */
  head(columns: readonly OutputColumn[]): string
  readonly tail: string
  readonly rowStart: string
  readonly rowEnd: string
  /** Bytes of `rowStart` that the first row of a file lacks. */
  readonly separatorBytes: number
  /** The text between a cell and the one before it. */
  before(column: OutputColumn, index: number): string
  /** The text around a cell that is text in this format. */
  readonly quote: string
  /** A text cell that needs quoting or escaping, with its quotes. */
  escape(text: string): string
}

/** RFC 4180 with `\n` line ends and a header: byte for byte what csv-stringify writes for the same rows. */
const CSV: TextSyntax = {
  head: columns => `${columns.join(',')}\n`,
  tail: '',
  rowStart: '',
  rowEnd: '\n',
  separatorBytes: 0,
  before: (_column, index) => (index === 0 ? '' : ','),
  quote: '',
  escape: text => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text),
}

/** An array of arrays: with all columns exactly the form of the service's window files. */
const JSON_ROWS: TextSyntax = {
  ...CSV,
  head: () => '[',
  tail: ']',
  rowStart: ',[',
  rowEnd: ']',
  separatorBytes: 1,
  quote: '"',
  escape: text => JSON.stringify(text),
}

/** An object a row, with its keys in the order of the columns. */
const JSON_LINES: TextSyntax = {
  ...JSON_ROWS,
  head: () => '',
  tail: '',
  rowStart: '{',
  rowEnd: '}\n',
  separatorBytes: 0,
  before: (column, index) => `${index === 0 ? '' : ','}"${column}":`,
}

/** The exporter of a format. The modules of Arrow and Parquet are large. */
export async function openExporter(format: Format, options: ExporterOptions): Promise<Exporter> {
  if (format === 'parquet') return new (await import('./parquet/parquet.js')).ParquetExporter(options)
  if (format === 'arrow') return new (await import('./arrow.js')).ArrowExporter(options)
  return openTextExporter(format, options)
}

type TextFormat = (typeof TEXT_FORMATS)[number]
type TextOptions = Pick<ExporterOptions, 'rowFormat' | 'emit'>

/** The same for a text format. `flush` passes on all rows so far. */
export function openTextExporter(format: TextFormat, options: TextOptions): Exporter & { flush(): Promise<void> } {
  return new TextExporter(options, { csv: CSV, json: JSON_ROWS, jsonl: JSON_LINES }[format])
}

/** Collected before they are passed on: fewer, larger writes. */
const CHUNK_BYTES = 256 * 1024

class TextExporter implements Exporter {
  private template: RowTemplate | undefined
  /** Full ones, which are passed on after each batch. */
  private readonly chunks: Buffer[] = []
  private chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  private filled = 0
  private skipped: number

  constructor(
    private readonly options: TextOptions,
    private readonly syntax: TextSyntax,
  ) {
    this.skipped = syntax.separatorBytes
    this.append(Buffer.from(syntax.head(options.rowFormat.columns)))
  }

  async write(batch: KlineBatch): Promise<void> {
    if (batch.length === 0) return
    if (!this.template?.fits(batch)) this.template = new RowTemplate(batch, this.options.rowFormat, this.syntax)
    this.template.write(batch, rows => {
      this.append(rows.subarray(this.skipped))
      this.skipped = 0
    })
    if (this.chunks.length > 0) await this.emit()
  }

  flush(): Promise<void> {
    this.chunks.push(this.chunk.subarray(0, this.filled))
    this.chunk = this.chunk.subarray(this.filled)
    this.filled = 0
    return this.emit()
  }

  end(): Promise<void> {
    this.append(Buffer.from(this.syntax.tail))
    return this.flush()
  }

  private append(bytes: Uint8Array): void {
    if (this.filled + bytes.length > this.chunk.length) {
      this.chunks.push(this.chunk.subarray(0, this.filled))
      this.chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes.length))
      this.filled = 0
    }
    this.chunk.set(bytes, this.filled)
    this.filled += bytes.length
  }

  private async emit(): Promise<void> {
    for (const chunk of this.chunks.splice(0)) await this.options.emit(chunk)
  }
}

/** How times are converted from their text in ms. */
export const TIME_CONVERSIONS: Readonly<Record<TimeFormat, ((ms: string) => string) | undefined>> = {
  ms: undefined,
  s: toSeconds,
  us: ms => `${ms}000`,
  iso: ms => new Date(Number(ms)).toISOString(),
}

/** A whole second has no decimals; any other time keeps its three. */
function toSeconds(ms: string): string {
  const [whole, rest] = [ms.slice(0, -3), ms.slice(-3)]
  return rest === '000' ? whole : `${whole}.${rest}`
}

interface Slot extends CellSlot {
  /** Undefined for a cell that is copied as it is. */
  readonly convert: ((text: string) => string) | undefined
}

/** Rows of one series in a text format. Cells keep the digits of the source. */
class RowTemplate {
  private readonly slots: Slot[] = []
  private readonly end: string
  /** Writes rows of which every cell is copied as it is. */
  private readonly writer: WasmRowWriter | undefined

  constructor(
    private readonly made: KlineBatch,
    { columns, timeFormat }: RowFormat,
    syntax: TextSyntax,
  ) {
    let literal = syntax.rowStart
    for (const [index, name] of columns.entries()) {
      literal += syntax.before(name, index)
      if (isSeriesColumn(name)) {
        literal += syntax.quote + made.series[name] + syntax.quote
        continue
      }
      const column = COLUMNS.indexOf(name)
      const kind = COLUMN_KINDS[column]
      const isEscaped = kind === 'text' && !made.plain
      const isNumber = kind === 'count' || (kind === 'time' && timeFormat !== 'iso')
      const quote = isEscaped || isNumber ? '' : syntax.quote
      const convert = kind === 'time' ? TIME_CONVERSIONS[timeFormat] : isEscaped ? syntax.escape : undefined
      this.slots.push({ literal: literal + quote, column, convert })
      literal = quote
    }
    this.end = literal + syntax.rowEnd
    const isCopied = this.slots.every(({ convert }) => convert === undefined)
    this.writer = isCopied ? new WasmRowWriter(this.slots, this.end) : undefined
  }

  /** Whether this template is made for the rows of a batch. */
  fits({ series: { symbol, interval }, plain }: KlineBatch): boolean {
    const { series, plain: isPlain } = this.made
    return plain === isPlain && symbol === series.symbol && interval === series.interval
  }

  /** Writes a batch in pieces that are valid until the next one. */
  write(batch: KlineBatch, append: (rows: Uint8Array) => void): void {
    if (this.writer) {
      this.writer.write(batch, append)
      return
    }
    let text = ''
    for (let row = 0; row < batch.length; row++) {
      for (const { literal, column, convert } of this.slots) {
        const cell = batch.text(row, column)
        text += literal + (convert ? convert(cell) : cell)
      }
      text += this.end
    }
    append(Buffer.from(text))
  }
}
