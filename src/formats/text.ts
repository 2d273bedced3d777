import type { KlineBatch } from '../rows/kline-batch.js'
import { ByteBuffer } from './buffers.js'
import type { Exporter, ExporterOptions } from './exporter.js'
import type { RowFormat } from './row-format.js'
import { type RowSyntax, RowTemplate } from './row-template.js'

/** A text format: its rows, and the text around them. */
interface TextSyntax extends RowSyntax {
  /** The text before all rows. */
  head(rowFormat: RowFormat): string
  /** The text after all rows. */
  readonly tail: string
  /** Bytes at the start of a row that separate it from the row before, which the first row of a file lacks. */
  readonly separatorBytes: number
}

/**
 * RFC 4180 with `\n` line ends and a header, byte for byte what csv-stringify writes for the same rows: a cell is quoted when
 * it has a comma, a quote or a line end.
 */
export const CSV: TextSyntax = {
  head: ({ columns }) => `${columns.join(',')}\n`,
  tail: '',
  separatorBytes: 0,
  rowStart: '',
  rowEnd: '\n',
  quote: '',
  before: (_column, index) => (index === 0 ? '' : ','),
  escape: text => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text),
}

/** An array of rows, each an array: with all columns exactly the form of the service's window files. */
export const JSON_ROWS: TextSyntax = {
  head: () => '[',
  tail: ']',
  separatorBytes: 1,
  rowStart: ',[',
  rowEnd: ']',
  quote: '"',
  before: (_column, index) => (index === 0 ? '' : ','),
  escape: text => JSON.stringify(text),
}

/** JSON Lines: an object a row, with its keys in the order of the columns. */
export const JSON_LINES: TextSyntax = {
  head: () => '',
  tail: '',
  separatorBytes: 0,
  rowStart: '{',
  rowEnd: '}\n',
  quote: '"',
  before: (column, index) => `${index === 0 ? '' : ','}"${column}":`,
  escape: text => JSON.stringify(text),
}

/** Writes rows as text, in chunks of some hundred kilobytes. */
export class TextExporter implements Exporter {
  private readonly buffer = new ByteBuffer()
  private template: RowTemplate | undefined
  private isFirst = true

  constructor(
    private readonly options: ExporterOptions,
    private readonly syntax: TextSyntax,
  ) {
    this.buffer.text(syntax.head(options.rowFormat))
  }

  async write(batch: KlineBatch): Promise<void> {
    if (batch.length === 0) return
    const { buffer, syntax } = this
    if (!this.template?.fits(batch)) this.template = new RowTemplate(batch, this.options.rowFormat, syntax)
    const start = buffer.length
    this.template.write(batch, buffer)
    if (this.isFirst) buffer.remove(start, syntax.separatorBytes)
    this.isFirst = false
    if (buffer.isFull) await this.options.emit(buffer.take())
  }

  async end(): Promise<void> {
    this.buffer.text(this.syntax.tail)
    const rest = this.buffer.take()
    this.buffer.release()
    await this.options.emit(rest)
  }
}
