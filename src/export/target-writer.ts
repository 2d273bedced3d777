import type { KlineBatch } from '../klines/batch/kline-batch.js'
import type { SeriesLabel } from '../klines/series.js'
import type { Compression } from './formats/compression.js'
import type { Format } from './formats/format.js'
import { commitOutputs } from './output/commit.js'
import { type OpenOptions, openOutput } from './output/open.js'
import type { Output } from './output/output.js'
import { type EncoderOptions, type TargetCounts, TargetEncoder } from './target-encoder.js'
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

/** Writes one target. Its first row opens it, so nothing is made for a target without rows. */
export class TargetWriter {
  private readonly encoder: TargetEncoder
  private counts: TargetCounts = { rows: 0, inexactDoubles: 0 }
  private output: Output | undefined
  private opening: Promise<void> | undefined
  /** The last chunk, which is written while the next one is made: never more than two are in memory. */
  private writing = Promise.resolve()

  constructor(
    private readonly target: Target<SeriesLabel>,
    private readonly encoding: EncoderOptions,
    private readonly options: OpenOptions,
  ) {
    this.encoder = new TargetEncoder(target, encoding, bytes => this.writeBytes(bytes))
  }

  /** Opens the output, once. */
  open(): Promise<void> {
    this.opening ??= this.openOutput()
    return this.opening
  }

  private async openOutput(): Promise<void> {
    const { path, gzip } = this.target
    this.output = await openOutput(path, gzip, this.options)
  }

  /** Adds rows: series by series, each in order of time. */
  async write(batch: KlineBatch): Promise<void> {
    if (batch.length > 0) await this.open()
    await this.encoder.write(batch)
  }

  /** Writes what is left. A file is on the disk then, but not in its place. */
  async finish(): Promise<void> {
    await this.encoder.end()
    await this.finishBytes(this.encoder.counts)
  }

  /** Adds the next bytes of the file, which another encoder has made. */
  async writeBytes(bytes: Uint8Array): Promise<void> {
    await this.open()
    await this.writing
    this.writing = (this.output as Output).write(bytes)
    // The next chunk or `finish` reports a failure.
    this.writing.catch(() => {})
  }

  /** Does what `finish` does after the last bytes. */
  async finishBytes(counts: TargetCounts): Promise<void> {
    this.counts = counts
    await this.writing
    await this.output?.finish()
  }

  /** Puts all finished targets in their places, or none, and describes those that have rows. */
  static async commit(writers: readonly TargetWriter[]): Promise<WrittenFile[]> {
    await commitOutputs(writers.flatMap(({ output }) => output ?? []))
    return writers.flatMap(writer => writer.describe() ?? [])
  }

  private describe(): WrittenFile | undefined {
    if (!this.output) return undefined
    const { path, format, gzip, series } = this.target
    const labels = series.map(({ symbol, interval }) => ({ symbol, interval }))
    const { rows, inexactDoubles } = this.counts
    const compression = gzip ? 'gzip' : this.encoding.rowFormat.compression
    return { path, format, compression, series: labels, rows, bytes: this.output.bytes, inexactDoubles }
  }

  /** Leaves the target as it was. Never throws. */
  async discard(): Promise<void> {
    this.encoder.abort()
    // The first bytes may be on their way.
    await this.opening?.catch(() => {})
    await this.output?.discard()
  }
}
