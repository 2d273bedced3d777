import type { KlineBatch } from '../klines/batch/kline-batch.js'
import type { SeriesLabel } from '../klines/series.js'
import { VERSION } from '../version.js'
import type { Compression } from './formats/compression.js'
import type { Exporter, FileMetadata } from './formats/exporter.js'
import type { Format } from './formats/format.js'
import { openExporter } from './formats/open-exporter.js'
import { commitOutputs } from './output/commit.js'
import { type OpenOptions, openOutput } from './output/open.js'
import type { Output } from './output/output.js'
import { type RowFormat, withSeriesColumns } from './row-format.js'
import type { Target } from './targets.js'

/** A file that was written. */
export interface WrittenFile {
  /** A path, or `-` for stdout. */
  readonly path: string
  readonly format: Format
  /** Of the pages of a Parquet file, or `gzip` for a name that ends in .gz. */
  readonly compression: Compression
  readonly series: readonly SeriesLabel[]
  readonly rows: number
  readonly bytes: number
  /** Decimals whose double has other digits. */
  readonly inexactDoubles: number
}

/** Writes one target. Its first row opens it, so nothing is made for a target without rows. */
export class TargetWriter {
  private readonly stats = { inexactDoubles: 0 }
  private rows = 0
  private output: Output | undefined
  private exporter: Exporter | undefined
  /** The last chunk, which is written while the next one is made: never more than two are in memory. */
  private writing = Promise.resolve()

  constructor(
    private readonly target: Target<SeriesLabel>,
    private readonly rowFormat: RowFormat,
    private readonly metadata: Pick<FileMetadata, 'range' | 'source'>,
    private readonly options: OpenOptions,
  ) {}

  /** Adds rows: series by series, each in order of time. */
  async write(batch: KlineBatch): Promise<void> {
    if (batch.length === 0) return
    this.exporter ??= await this.open()
    this.rows += batch.length
    await this.exporter.write(batch)
  }

  /** Writes what is left. A file is on the disk then, but not in its place. */
  async finish(): Promise<void> {
    await this.exporter?.end()
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
    const compression = gzip ? 'gzip' : this.rowFormat.compression
    return { path, format, compression, series: labels, rows: this.rows, bytes: this.output.bytes, ...this.stats }
  }

  /** Leaves the target as it was. Never throws. */
  async discard(): Promise<void> {
    this.exporter?.abort?.()
    await this.output?.discard()
  }

  private async open(): Promise<Exporter> {
    const { path, format, gzip, series } = this.target
    const output = await openOutput(path, gzip, this.options)
    this.output = output
    const join = (names: readonly string[]) => [...new Set(names)].join(',')
    const symbol = join(series.map(({ symbol }) => symbol))
    const interval = join(series.map(({ interval }) => interval))
    const { columns } = this.rowFormat
    return openExporter(format, {
      rowFormat: { ...this.rowFormat, columns: series.length > 1 ? withSeriesColumns(columns) : columns },
      metadata: { symbol, interval, ...this.metadata, version: VERSION },
      stats: this.stats,
      emit: async bytes => {
        await this.writing
        this.writing = output.write(bytes)
        // The next chunk or `finish` reports a failure.
        this.writing.catch(() => {})
      },
    })
  }
}
