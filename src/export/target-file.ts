import type { SeriesLabel } from '../klines/series.js'
import type { Format } from '../options/formats.js'
import type { Compression } from '../options/output-options.js'
import { commitOutputs } from './output/commit.js'
import { type OpenOptions, openOutput } from './output/open.js'
import type { Output } from './output/output.js'
import type { TargetCounts } from './target-encoder.js'
import type { Target } from './targets.js'

/** A file that was written. */
export interface WrittenFile extends TargetCounts {
  /** A path, or `-` for stdout. */
  readonly path: string
  readonly format: Format
  /** Of the pages of a Parquet file, or `gzip` for a name that ends in .gz. */
  readonly compression: Compression
  readonly series: readonly SeriesLabel[]
  readonly bytes: number
}

/** How the file of a target is written. */
export interface TargetFileOptions extends OpenOptions {
  /** Of the pages of a Parquet file. */
  readonly compression: Compression
}

/** The file of one target, wherever its bytes come from. Nothing is made for a target without bytes. */
export class TargetFile {
  /** Set when all bytes are written. */
  private counts: TargetCounts | undefined
  private output: Output | undefined
  private opening: Promise<void> | undefined
  /** The last chunk, which is written while the next one is made: never more than two are in memory. */
  private writing = Promise.resolve()

  constructor(
    private readonly target: Target<SeriesLabel>,
    private readonly options: TargetFileOptions,
  ) {}

  /** Opens the output, once. */
  open(): Promise<void> {
    this.opening ??= this.openOutput()
    return this.opening
  }

  private async openOutput(): Promise<void> {
    const { path, gzip } = this.target
    this.output = await openOutput(path, gzip, this.options)
  }

  /** Adds the next bytes. They must not change any more. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.open()
    await this.writing
    this.writing = (this.output as Output).write(bytes)
    // The next chunk or `finish` reports a failure.
    this.writing.catch(() => {})
  }

  /** Writes what is left. The file is on the disk then, but not in its place. */
  async finish(counts: TargetCounts): Promise<void> {
    await this.writing
    if (counts.rows > 0 && this.output === undefined) throw new Error(`Rows of ${this.target.path} without bytes.`)
    await this.output?.finish()
    this.counts = counts
  }

  /** Puts all files in their places, or none, and describes those that have rows. All must be finished. */
  static async commit(files: readonly TargetFile[]): Promise<WrittenFile[]> {
    const unfinished = files.find(({ counts }) => counts === undefined)
    if (unfinished) throw new Error(`${unfinished.target.path} is not complete.`)
    await commitOutputs(files.flatMap(({ output }) => output ?? []))
    return files.flatMap(file => file.describe() ?? [])
  }

  private describe(): WrittenFile | undefined {
    const { output, counts } = this
    if (!output || !counts) return undefined
    const { path, format, gzip, series } = this.target
    const labels = series.map(({ symbol, interval }) => ({ symbol, interval }))
    const compression = gzip ? 'gzip' : this.options.compression
    return { path, format, compression, series: labels, ...counts, bytes: output.bytes }
  }

  /** Leaves the target as it was. Never throws. */
  async discard(): Promise<void> {
    // The first bytes may be on their way.
    await this.opening?.catch(() => {})
    await this.output?.discard()
  }
}
