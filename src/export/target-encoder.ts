import type { KlineBatch } from '../klines/batch/kline-batch.js'
import type { SeriesLabel } from '../klines/series.js'
import { VERSION } from '../version.js'
import type { Exporter, FileMetadata } from './formats/exporter.js'
import { openExporter } from './formats/open-exporter.js'
import { type RowFormat, withSeriesColumns } from './row-format.js'
import type { Target } from './targets.js'

/** What the files of an export have in common. */
export interface EncoderOptions {
  readonly rowFormat: RowFormat
  readonly metadata: Pick<FileMetadata, 'range' | 'source'>
}

/** What was written to a target. */
export interface TargetCounts {
  readonly rows: number
  /** Decimals whose double has other digits. */
  readonly inexactDoubles: number
}

/** Turns the rows of one target into its bytes, wherever these go. A target without rows has none. */
export class TargetEncoder {
  private readonly stats = { inexactDoubles: 0 }
  private rows = 0
  private exporter: Exporter | undefined

  /** `emit` takes the next bytes. They are never written to again. */
  constructor(
    private readonly target: Target<SeriesLabel>,
    private readonly options: EncoderOptions,
    private readonly emit: (bytes: Uint8Array) => Promise<void>,
  ) {}

  get counts(): TargetCounts {
    return { rows: this.rows, ...this.stats }
  }

  /** Adds rows: series by series, each in order of time. */
  async write(batch: KlineBatch): Promise<void> {
    if (batch.length === 0) return
    this.exporter ??= await this.open()
    this.rows += batch.length
    await this.exporter.write(batch)
  }

  /** Emits what is left, and frees the exporter: the writers of all finished files are kept until the commit. */
  async end(): Promise<void> {
    await this.exporter?.end()
    this.exporter = undefined
  }

  /** Frees memory when the target is given up. */
  abort(): void {
    this.exporter?.abort?.()
  }

  private async open(): Promise<Exporter> {
    const { format, series } = this.target
    const join = (names: readonly string[]) => [...new Set(names)].join(',')
    const symbol = join(series.map(({ symbol }) => symbol))
    const interval = join(series.map(({ interval }) => interval))
    const { rowFormat, metadata } = this.options
    const { columns } = rowFormat
    return openExporter(format, {
      rowFormat: { ...rowFormat, columns: series.length > 1 ? withSeriesColumns(columns) : columns },
      metadata: { symbol, interval, ...metadata, version: VERSION },
      stats: this.stats,
      emit: this.emit,
    })
  }
}
