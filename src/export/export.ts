import { openSource } from '../download/open-source.js'
import type { ReadRequest } from '../download/read.js'
import { parseSelection } from '../download/selection.js'
import type { DownloadReport, Progress } from '../download/tally.js'
import { systemClock } from '../http/system-clock.js'
import { KlinesError } from '../klines/errors.js'
import { type SeriesLabel, seriesName } from '../klines/series.js'
import { parseRange } from '../klines/time-range.js'
import { type ExportSeries, planExport, type ResampleRequest, selectSeries } from './export-series.js'
import type { Format } from './formats/format.js'
import { checkTarget } from './output/file.js'
import { type NumberType, type OutputColumn, parseRowFormat, type RowFormat, type TimeFormat } from './row-format.js'
import type { WrittenFile } from './target-writer.js'
import { planTargets, type Target } from './targets.js'
import { writeTargets } from './write.js'

/** Which candles, and the files to write them to. */
export interface ExportRequest extends ReadRequest, ResampleRequest {
  /** A path with the placeholders `{symbol}` and `{interval}`, or `-` for stdout. */
  readonly output: string
  /** Default: from the extension of `output`; `json` for stdout. */
  readonly format?: Format | undefined
  /** Names and order of the columns. Default: the twelve, after `symbol` and `interval` where series share a file. */
  readonly columns?: readonly OutputColumn[] | undefined
  /** Text formats only. Default `ms`. */
  readonly timeFormat?: TimeFormat | undefined
  /** Parquet and Arrow only. Default `double`. */
  readonly numbers?: NumberType | undefined
  /** Replace existing files. */
  readonly force?: boolean | undefined
  /** Called after each window. */
  readonly progress?: Progress | undefined
}

/** The result of an export: how its windows were downloaded or read, and its files. */
export interface ExportReport extends DownloadReport {
  readonly files: WrittenFile[]
}

/**
 * Downloads what is missing or can still change (unless `offline`) and exports the range. No file is put in place and no byte
 * goes to stdout before every window is there and valid, so a run that lacks one exports nothing. Throws what `downloadKlines` throws,
 * `bad_output`, `output_exists`, `output_unwritable`, and `digits_lost` when a decimal does not fit `numbers: 'decimal'`.
 *
 * @example
 * const { files } = await exportKlines({ symbols: 'all', intervals: ['1d'], output: '{symbol}.parquet', numbers: 'decimal' })
 */
export async function exportKlines(request: ExportRequest): Promise<ExportReport> {
  const selection = parseSelection(request)
  const range = parseRange(request, request.now ?? systemClock.now())
  // A source makes no request and creates no mirror before it is asked for the lists of start dates.
  const source = await openSource(request, { memoryFallback: true })
  try {
    const series = await selectSeries(request, source, selection, range)
    const checked = await checkTargets(request, series)
    const planned = await planExport(source, series, range)
    const { report, files } = await writeTargets({ source, range, ...planned, ...checked }, request)
    if (files.length === 0) throw noWholeCandle(series)
    warnAbout(report, files, request.warn)
    return { ...report, files }
  } finally {
    await source.close()
  }
}

/** The files of an export and the format of their rows, checked before any work is done for them. */
export async function checkTargets<S extends SeriesLabel>(
  request: ExportRequest,
  series: readonly S[],
): Promise<{ targets: Target<S>[]; rowFormat: RowFormat }> {
  const targets = planTargets(request.output, request.format, series)
  const rowFormat = parseRowFormat(request, targets[0].format)
  for (const { path } of targets) if (path !== '-') await checkTarget(path, request.force ?? false)
  return { targets, rowFormat }
}

function warnAbout({ series }: DownloadReport, files: readonly WrittenFile[], warn: ExportRequest['warn']): void {
  for (const report of series) if (report.rows === 0) warn?.(`No candle of ${seriesName(report)} opens in the range.`)
  for (const { path, inexactDoubles } of files) {
    if (inexactDoubles > 0)
      warn?.(
        `${path === '-' ? 'stdout' : path}: ${inexactDoubles} decimals have more digits than a double holds; \`numbers: 'decimal'\` keeps them all.`,
      )
  }
}

function noWholeCandle([{ interval, source }]: readonly ExportSeries[]): KlinesError {
  const message = `The ${source.interval} candles of the range do not cover a whole ${interval} candle; nothing is written.`
  return new KlinesError('no_candles', message, {
    suggestions: ['`partial: true` keeps candles that are covered in part.'],
  })
}
