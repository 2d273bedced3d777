import type { Hash } from 'node:crypto'
import { type SeriesLabel, seriesName } from '../../candles/series.js'
import type { Exporter, ExporterOptions, FileMetadata } from '../../formats/exporter.js'
import { type RowFormat, withSeriesColumns } from '../../formats/row-format.js'
import { openExporter } from '../../formats/text.js'
import type { Format } from '../../options/formats.js'
import type { Compression } from '../../options/output-options.js'
import { Fingerprinter, newHash, type SeriesFingerprint } from '../../rows/fingerprint.js'
import type { KlineBatch } from '../../rows/kline-batch.js'
import { VERSION } from '../../version.js'
import { GzipOutput } from './gzip.js'
import type { FinishedFile, Output } from './output.js'
import type { OutputSpec } from './output-spec.js'

/** What the outputs of a run have in common. */
export interface OutputFormat {
  readonly rowFormat: RowFormat
  readonly metadata: Pick<FileMetadata, 'range' | 'source'>
  /** Whether outputs have fingerprints. */
  readonly fingerprint?: boolean | undefined
}

/** A file that was written. */
export interface WrittenFile {
  /** A path, or `-` for stdout and for a stream. */
  readonly path: string
  readonly format: Format
  /** Of the pages of a Parquet file, or `gzip` for a name that ends in .gz. */
  readonly compression: Compression
  readonly series: readonly SeriesLabel[]
  readonly candles: number
  /** Decimals whose double has other digits. */
  readonly inexactDoubles: number
  readonly bytes: number
}

/** An output all of whose bytes are on the disk or with the reader; a file waits for its place. */
export interface FinishedOutput {
  readonly file: WrittenFile
  /** Undefined for a stream or a device. */
  readonly finished: FinishedFile | undefined
  /** Of its bytes, in hex, if that was asked for. */
  readonly sha256: string | undefined
  /** Of its series with rows, in their order, if that was asked for. */
  readonly fingerprints: readonly SeriesFingerprint[] | undefined
  /** Open times of its first and last row, ms UTC. */
  readonly firstOpenTime: number
  readonly lastOpenTime: number
}

/** Turns the rows of one output into bytes, and writes these to where `open` says. Nothing is opened before the first row. */
export class OutputWriter {
  private readonly stats = { inexactDoubles: 0 }
  private readonly hash: Hash | undefined
  private readonly fingerprinters: ReadonlyMap<string, Fingerprinter> | undefined
  private fingerprints: readonly SeriesFingerprint[] | undefined
  private candles = 0
  private firstOpenTime = 0
  private lastOpenTime = 0
  private exporter: Exporter | undefined
  private output: Output | undefined
  /** The last chunk, which is written while the next one is made: never more than two are in memory. */
  private writing = Promise.resolve()

  constructor(
    private readonly spec: OutputSpec<SeriesLabel>,
    private readonly format: OutputFormat,
    private readonly open: () => Promise<Output>,
    isHashed = false,
  ) {
    if (isHashed) this.hash = newHash()
    if (format.fingerprint) {
      this.fingerprinters = new Map(spec.series.map(series => [seriesName(series), new Fingerprinter(series)]))
    }
  }

  /** Adds rows: series by series, each in order of time. */
  async write(batch: KlineBatch): Promise<void> {
    if (batch.length === 0) return
    if (this.exporter === undefined) {
      const output = await this.open()
      this.output = this.spec.gzip ? new GzipOutput(output) : output
      this.exporter = await this.openExporter(this.output)
      this.firstOpenTime = batch.openTime(0)
    }
    this.fingerprinters?.get(seriesName(batch.series))?.add(batch)
    this.candles += batch.length
    this.lastOpenTime = batch.openTime(batch.length - 1)
    await this.exporter.write(batch)
  }

  /** Writes what is left. Returns undefined for an output without rows. */
  async finish(): Promise<FinishedOutput | undefined> {
    const { spec, exporter, output, candles, stats, firstOpenTime, lastOpenTime } = this
    if (exporter === undefined || output === undefined) return undefined
    if (this.fingerprinters) {
      this.fingerprints = [...this.fingerprinters.values()].flatMap(series => series.finish() ?? [])
    }
    await exporter.end()
    // What follows on stdout, such as a prompt, begins on a line of its own. A file is a window file, byte for byte.
    if (spec.path === '-' && spec.format === 'json') {
      await this.writing
      await output.write(Buffer.from('\n'))
    }
    // Frees its memory: what was written stays until all outputs are.
    this.exporter = undefined
    await this.writing
    await output.finish()
    const { path, format, gzip } = spec
    const series = spec.series.map(({ symbol, interval }) => ({ symbol, interval }))
    const compression = gzip ? 'gzip' : this.format.rowFormat.compression
    const file = { path, format, compression, series, candles, ...stats, bytes: output.bytes }
    const { fingerprints } = this
    const sha256 = this.hash?.digest('hex')
    return { file, finished: output.finished, sha256, fingerprints, firstOpenTime, lastOpenTime }
  }

  /** Leaves the output as it was, as far as possible, and frees memory. Never throws. */
  async discard(): Promise<void> {
    await this.output?.discard()
  }

  private async openExporter(output: Output): Promise<Exporter> {
    const { format, series } = this.spec
    const join = (names: readonly string[]) => [...new Set(names)].join(',')
    const symbol = join(series.map(({ symbol }) => symbol))
    const interval = join(series.map(({ interval }) => interval))
    const { rowFormat, metadata } = this.format
    const { columns } = rowFormat
    const options: ExporterOptions = {
      rowFormat: { ...rowFormat, columns: series.length > 1 ? withSeriesColumns(columns) : columns },
      metadata: { symbol, interval, ...metadata, version: VERSION },
      stats: this.stats,
      fingerprints: () => this.fingerprints,
      emit: async bytes => {
        this.hash?.update(bytes)
        await this.writing
        this.writing = output.write(bytes)
        // The next chunk or `finish` reports a failure.
        this.writing.catch(() => {})
      },
    }
    return output.openExporter?.(options) ?? openExporter(format, options)
  }
}
