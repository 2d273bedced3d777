import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import type { Exporter, ExportStats, FileMetadata } from './formats/exporter.js'
import type { Format } from './formats/format.js'
import { openExporter } from './formats/open-exporter.js'
import { type Output, openOutput } from './output/open.js'
import { type RowFormat, withSeriesColumns } from './row-format.js'
import type { Target } from './targets.js'

/** One file that was written. */
export interface WrittenFile {
  /** A path, or `-` for stdout. */
  readonly path: string
  readonly format: Format
  readonly series: readonly {
    readonly symbol: string
    readonly interval: string
  }[]
  readonly rows: number
  readonly bytes: number
  /** Decimals whose double does not give their digits back. */
  readonly inexactDoubles: number
}

/** What goes into a target. */
export interface TargetContent {
  readonly target: Target
  readonly batches: AsyncIterable<KlineBatch>
  readonly facts: FileMetadata
}

/** How targets are written. */
export interface WriteOptions {
  /** Replace files that exist. */
  readonly force: boolean
  readonly signal?: AbortSignal | undefined
  /** What has to succeed before the first file is put in place. */
  readonly ready?: () => Promise<unknown>
}

/**
 * Writes every target whole before the first is put in place, so a run that fails on the way leaves all files as they
 * were. A target without a row is left out.
 */
export async function writeTargets(
  contents: readonly TargetContent[],
  shape: RowFormat,
  { force, signal, ready }: WriteOptions,
): Promise<WrittenFile[]> {
  const outputs: Output[] = []
  const written: WrittenFile[] = []
  try {
    for (const content of contents) {
      const first = await peek(content.batches)
      if (first === undefined) continue
      const { target } = content
      const output = await openOutput(target.path, force, signal)
      outputs.push(output)
      written.push(await writeTarget({ ...content, batches: first }, shape, output))
    }
    await ready?.()
    for (const output of outputs) await output.commit()
  } catch (error) {
    for (const output of outputs) await output.discard()
    throw error
  }
  return written
}

async function writeTarget(
  { target, batches, facts }: TargetContent,
  shape: RowFormat,
  output: Output,
): Promise<WrittenFile> {
  const exporter: Exporter = await openExporter(target.format)
  const columns = target.series.length > 1 ? withSeriesColumns(shape.columns) : shape.columns
  const notes: ExportStats = { inexactDoubles: 0 }
  let rows = 0
  const counted = tap(batches, batch => {
    rows += batch.length
  })
  const bytes = exporter(counted, { ...shape, columns }, facts, notes)
  // A chunk is written while the next one is made: never more than two, so a slow reader costs time and no memory.
  let writing = Promise.resolve()
  for await (const chunk of target.gzip ? gzipped(bytes) : bytes) {
    await writing
    writing = output.write(chunk)
    // Its failure is met at the next await, also when making the next chunk fails first.
    writing.catch(() => {})
  }
  await writing
  await output.finish()
  const { path, format, series } = target
  return {
    path,
    format,
    series,
    rows,
    bytes: output.bytes,
    inexactDoubles: notes.inexactDoubles,
  }
}

/** The same chunks as one gzip member; no time or name in its header, so the same input gives the same bytes. */
function gzipped(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return Readable.from(chunks, { objectMode: false }).compose(createGzip()) as AsyncIterable<Uint8Array>
}

async function* tap<T>(items: AsyncIterable<T>, see: (item: T) => void): AsyncGenerator<T> {
  for await (const item of items) {
    see(item)
    yield item
  }
}

/** The same items when there is at least one, else undefined: no file is made for nothing. */
async function peek<T>(items: AsyncIterable<T>): Promise<AsyncIterable<T> | undefined> {
  const iterator = items[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done) return undefined
  return (async function* () {
    yield first.value
    yield* { [Symbol.asyncIterator]: () => iterator }
  })()
}
