import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import type { RowFormat } from '../row-format.js'
import { ByteBuffer, copySource } from './byte-buffer.js'
import { type RowSyntax, RowTemplate } from './row-template.js'

/** A text format: its rows, and what stands around them. */
export interface TextSyntax extends RowSyntax {
  /** Before all rows. */
  head(shape: RowFormat): string
  /** After all rows. */
  readonly tail: string
  /** Bytes of `rowStart` that the first row of the file does without: the comma between rows. */
  readonly skipAtFirst: number
}

/** The bytes of a text file with these rows, in chunks of some hundred kilobytes. */
export async function* textRows(
  batches: AsyncIterable<KlineBatch>,
  shape: RowFormat,
  syntax: TextSyntax,
): AsyncGenerator<Uint8Array> {
  const out = new ByteBuffer()
  out.text(syntax.head(shape))
  let template: { key: string; rows: RowTemplate } | undefined
  let skip = syntax.skipAtFirst
  for await (const batch of batches) {
    if (batch.length === 0) continue
    const key = `${batch.series.symbol} ${batch.series.interval} ${batch.plain}`
    if (template?.key !== key)
      template = {
        key,
        rows: new RowTemplate(batch.series, shape, syntax, batch.plain),
      }
    if (skip > 0) {
      // Only the first row of a file has nothing before it: write it apart and leave the separator out.
      const first = new ByteBuffer()
      template.rows.write(batch.rows(0, 1), first)
      const bytes = first.take()
      out.reserve(bytes.length)
      out.copy(copySource(bytes), skip, bytes.length)
      skip = 0
      template.rows.write(batch.rows(1, batch.length), out)
    } else template.rows.write(batch, out)
    if (out.full) yield out.take()
  }
  out.text(syntax.tail)
  yield out.take()
}
