import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import type { RowFormat } from '../row-format.js'
import { ByteBuffer } from './byte-buffer.js'
import type { Exporter, ExporterOptions } from './exporter.js'
import { type RowSyntax, RowTemplate } from './row-template.js'

/** A text format: its rows, and the text around them. */
export interface TextSyntax extends RowSyntax {
  /** The text before all rows. */
  head(rowFormat: RowFormat): string
  /** The text after all rows. */
  readonly tail: string
  /** Bytes at the start of a row that separate it from the row before, which the first row of a file lacks. */
  readonly separatorBytes: number
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
