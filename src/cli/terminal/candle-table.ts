import { SAMPLE } from '../../candles/base-url.js'
import { COLUMNS } from '../../candles/columns.js'
import { type SeriesLabel, seriesName } from '../../candles/series.js'
import { formatCount, quoteText } from '../../candles/text.js'
import { type Output, StreamOutput } from '../../engine/output-stream.js'
import type { Exporter, ExporterOptions } from '../../formats/exporter.js'
import { columnType, isSeriesColumn } from '../../formats/row-format.js'
import { TIME_CONVERSIONS } from '../../formats/text.js'
import type { OutputColumn, TimeFormat } from '../../options.js'
import type { KlineBatch } from '../../rows/kline-batch.js'
import { fittingText } from './table.js'

/** Rows of each series that are shown, the newest ones, unless the user says how many. */
const ROWS = 20
/** These fit into 80 characters for most series. */
const SHOWN: readonly OutputColumn[] = ['open_time', 'open', 'high', 'low', 'close', 'volume', 'count']

export interface CandleTableOptions {
  readonly columns: readonly OutputColumn[] | undefined
  /** Default: `2024-01-31 12:00`, as precise as the times of the table are. */
  readonly timeFormat: TimeFormat | undefined
  /** Whether the user says how many rows: then all that come are shown. */
  readonly isExcerpt: boolean
  readonly width: number
}

/** Writes candles for a person instead of a format: a table for each series, under its name. */
export class CandleTable implements Exporter {
  private readonly columns: readonly OutputColumn[]
  private emit: (text: string) => Promise<void> = async () => {}
  private isSample = false
  private series: SeriesLabel | undefined
  /** The cells of rows that are not written yet, and how many rows of the series are not shown. */
  private rows: string[][] = []
  private left = 0

  constructor(private readonly options: CandleTableOptions) {
    this.columns = options.columns ?? SHOWN
  }

  /** stdout, which takes the rows of this table. */
  toStdout(signal: AbortSignal | undefined): Output {
    const openExporter = ({ emit, metadata }: ExporterOptions) => {
      this.emit = text => emit(Buffer.from(text))
      this.isSample = metadata.source === SAMPLE
      return this
    }
    return Object.assign(StreamOutput.to('-', signal), { openExporter })
  }

  async write(batch: KlineBatch): Promise<void> {
    if (batch.length === 0) return
    if (this.series === undefined || seriesName(this.series) !== seriesName(batch.series))
      await this.begin(batch.series)
    const most = this.options.isExcerpt ? Infinity : ROWS
    const skipped = Math.max(0, batch.length - most)
    for (let row = skipped; row < batch.length; row++)
      this.rows.push(this.columns.map(name => cellText(batch, row, name)))
    this.left += skipped + Math.max(0, this.rows.length - most)
    this.rows = this.rows.slice(-most)
  }

  async end(): Promise<void> {
    const { rows, options } = this
    if (rows.length === 0) return
    this.rows = []
    const columns = this.columns.map((name, index) => toColumn(name, rows, index, options))
    const table = {
      head: columns.map(({ head }) => head),
      rows: rows.map((_, row) => columns.map(({ cells }) => cells[row])),
      right: columns.flatMap(({ head, isNumber }) => (isNumber ? head : [])),
    }
    await this.emit(`${fittingText(table, 1, undefined, options.width)}\n`)
  }

  /** What the last table leaves out: one line, to be written after the end. */
  get omitted(): string {
    const rest = !this.options.columns && `${COLUMNS.length - SHOWN.length} more columns: --columns`
    return [this.more, rest].filter(Boolean).join('. ')
  }

  private get more(): string {
    return this.left === 0 ? '' : `... ${formatCount(this.left)} more; -o FILE writes all`
  }

  private async begin(series: SeriesLabel): Promise<void> {
    if (this.series !== undefined) {
      await this.end()
      await this.emit(this.left === 0 ? '\n' : `${this.more}\n\n`)
    }
    this.series = series
    this.left = 0
    const hasTimes =
      this.options.timeFormat === undefined && this.columns.some(name => columnType(name, 'decimal') === 'time')
    const parts = [seriesName(series), hasTimes && 'times in UTC', this.isSample && 'synthetic sample data']
    await this.emit(`${parts.filter(Boolean).join(', ')}\n`)
  }
}

function cellText(batch: KlineBatch, row: number, name: OutputColumn): string {
  if (isSeriesColumn(name)) return batch.series[name]
  const text = batch.text(row, COLUMNS.indexOf(name))
  // Without the quotes around it: line ends and tabs would tear the table.
  return batch.plain ? text : quoteText(text).slice(1, -1)
}

/** A column of some rows: the text above it, and its cells. Numbers are aligned to the right. */
function toColumn(
  name: OutputColumn,
  rows: readonly (readonly string[])[],
  index: number,
  { columns, timeFormat }: CandleTableOptions,
) {
  const cells = rows.map(row => row[index])
  const kind = columnType(name, 'decimal')
  const head = columns === undefined && name === 'open_time' ? 'time' : name
  if (kind !== 'time') return { head, cells: kind === 'text' ? cells : trimZeros(cells), isNumber: kind !== 'text' }
  if (timeFormat !== undefined)
    return { head, cells: cells.map(TIME_CONVERSIONS[timeFormat] ?? String), isNumber: timeFormat !== 'iso' }
  // As people write them, all as precise as the most precise one.
  let times = cells.map(cell => new Date(Number(cell)).toISOString().slice(0, -1).replace('T', ' '))
  for (const end of ['.000', ':00', ' 00:00'])
    if (times.every(time => time.endsWith(end))) times = times.map(time => time.slice(0, -end.length))
  return { head, cells: times, isNumber: false }
}

/** Decimals without the zeros at their end that all of them have; the point goes with the last decimal. */
function trimZeros(cells: readonly string[]): string[] {
  const whole = (cell: string) => cell.split('.', 1)[0].length
  const needed = Math.max(...cells.map(cell => cell.slice(whole(cell)).replace(/\.?0*$/, '').length))
  return cells.map(cell => cell.slice(0, whole(cell) + needed))
}
