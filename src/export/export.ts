import { openSource } from '../download/open-source.js'
import { planSeries } from '../download/plan.js'
import type { KlineBatchesRequest } from '../download/read.js'
import { parseSelection } from '../download/selection.js'
import type { DownloadReport, Progress } from '../download/tally.js'
import { systemClock } from '../http/system-clock.js'
import { KlinesError } from '../klines/errors.js'
import { type SeriesLabel, seriesName } from '../klines/series.js'
import { parseRange } from '../klines/time-range.js'
import type { Format } from './formats/format.js'
import { checkTarget } from './output/file.js'
import {
  type ExportSeries,
  namedOutputs,
  outputsOf,
  partsOf,
  type ResampleRequest,
  rangeOfSources,
  sourcesOf,
} from './parts.js'
import { type NumberType, parseRowFormat, type RowFormat, type TimeFormat } from './row-format.js'
import { settleAndWrite } from './settle-and-write.js'
import { checkTemplate, planTargets, type Target } from './targets.js'
import type { WrittenFile } from './write.js'

/** Which candles, and the files they are to become. */
export interface ExportRequest extends KlineBatchesRequest, ResampleRequest {
  /** A path with `{symbol}` and `{interval}` filled in, or `-` for stdout. */
  readonly output: string
  /** Default: what the ending of `output` says; `json` for stdout. */
  readonly format?: Format | undefined
  /** Default: the twelve, with `symbol` and `interval` in front where series share a file. */
  readonly columns?: readonly string[] | undefined
  /** Text formats only. Default `ms`. */
  readonly timeFormat?: TimeFormat | undefined
  /** Parquet and Arrow only. Default `double`. */
  readonly numbers?: NumberType | undefined
  /** Replace files that exist. */
  readonly force?: boolean | undefined
}

/** What an export did: how the windows were had, and the files. */
export interface ExportReport extends DownloadReport {
  readonly files: WrittenFile[]
}

/**
 * Brings what is not final into the mirror (unless `offline`) and exports the range. Everything is had and found sound before a
 * file is put in place or a byte goes to stdout, so a failed run exports nothing. Throws what `downloadKlines` throws,
 * `bad_output`, `output_exists`, `output_unwritable`, and `digits_lost` when a decimal does not fit `numbers: 'decimal'`.
 */
export async function exportKlines(request: ExportRequest, progress?: Progress): Promise<ExportReport> {
  const { warn = () => {} } = request
  checkTemplate(request.output, request.format)
  const selection = parseSelection(request.symbols, request.intervals)
  const range = parseRange(request, request.now ?? systemClock.now())
  // Before a mirror is made for what is going to be refused.
  const named = namedOutputs(request, selection)
  if (named) await checkTargets(request, named)
  const source = await openSource(request, { memoryFallback: true })
  try {
    const parts = await partsOf(request, source, selection)
    const { targets, shape } = await checkTargets(request, outputsOf(parts))
    const plan = await planSeries(source, sourcesOf(parts), rangeOfSources(parts, range))
    const { report, files } = await settleAndWrite({ source, plan, parts, targets, shape, range }, request, progress)
    for (const one of report.series) if (one.rows === 0) warn(`No candle of ${seriesName(one)} opens in the range.`)
    if (files.length === 0) throw noWholeCandle(parts)
    for (const { path, inexactDoubles } of files) {
      if (inexactDoubles > 0)
        warn(
          `${path === '-' ? 'stdout' : path}: ${inexactDoubles} decimals have more digits than a double holds; --numbers decimal keeps them all.`,
        )
    }
    return { ...report, files }
  } finally {
    await source.close()
  }
}

/** The files of an export and the shape of their rows, checked before any work is done for them. */
export async function checkTargets(
  request: ExportRequest,
  outputs: readonly SeriesLabel[],
): Promise<{ targets: Target[]; shape: RowFormat }> {
  const targets = planTargets(request.output, request.format, outputs)
  const shape = parseRowFormat(request, targets[0].format)
  for (const { path } of targets) if (path !== '-') await checkTarget(path, request.force ?? false)
  return { targets, shape }
}

function noWholeCandle([{ output, source }]: readonly ExportSeries[]): KlinesError {
  const message = `The ${source.interval} candles of the range do not cover a whole ${output.interval} candle; nothing is written.`
  return new KlinesError('no_candles', message, { suggestions: ['--partial keeps candles that are covered in part.'] })
}
