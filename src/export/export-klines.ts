import { type DownloadReport, type Progress, settlePlan } from '../download/download-klines.js'
import { type KlineBatchesRequest, settledBatches } from '../download/kline-batches.js'
import { openSource } from '../download/open-source.js'
import { type Plan, planSeries } from '../download/plan.js'
import { parseSelection } from '../download/selection.js'
import type { WindowSource } from '../download/window-source.js'
import { type Series, seriesName } from '../klines/series.js'
import { formatRange, parseRange } from '../klines/time-range.js'
import { systemClock } from '../service/system-clock.js'
import { VERSION } from '../service/user-agent.js'
import type { FileFacts } from './exporter.js'
import type { Format } from './format.js'
import { checkTarget } from './output-file.js'
import { type NumberType, parseShape, type Shape, type TimeFormat } from './shape.js'
import { checkTemplate, planTargets, type Target } from './targets.js'
import { type TargetContent, type WrittenFile, writeTargets } from './write-targets.js'

/** Which candles, and the files they are to become. */
export interface ExportRequest extends KlineBatchesRequest {
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
 * Brings what is not final into the mirror (unless `offline`), then exports the range. Everything is had and found sound
 * before a byte is written, so a failed run writes nothing. Throws what `downloadKlines` throws, `bad_output`,
 * `output_exists`, `output_unwritable`, and `digits_lost` when a decimal does not fit `numbers: 'decimal'`.
 */
export async function exportKlines(request: ExportRequest, progress?: Progress): Promise<ExportReport> {
  const { force = false, warn = () => {} } = request
  checkTemplate(request.output, request.format)
  const selection = parseSelection(request.symbols, request.intervals)
  const range = parseRange(request, request.now ?? systemClock.now())
  const source = await openSource(request, { remember: true })
  try {
    const series = await source.series(selection)
    const { targets, shape } = await checkTargets(request, series)
    const plan = await planSeries(source, series, range)
    const report = await settlePlan(source, plan, request, progress)
    for (const one of report.series) if (one.rows === 0) warn(`No candle of ${seriesName(one)} opens in the range.`)
    const contents = targets.map(target => contentOf(target, plan, source, request))
    const files = await writeTargets(contents, shape, force, request.signal)
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
  series: readonly Series[],
): Promise<{ targets: Target[]; shape: Shape }> {
  const targets = planTargets(request.output, request.format, series)
  const shape = parseShape(request, targets[0].format)
  for (const { path } of targets) if (path !== '-') await checkTarget(path, request.force ?? false)
  return { targets, shape }
}

function contentOf(target: Target, plan: Plan, source: WindowSource, request: ExportRequest): TargetContent {
  const names = new Set(target.series.map(seriesName))
  const series = plan.series.filter(one => names.has(seriesName(one.series)))
  const list = (values: readonly string[]) => [...new Set(values)].join(',')
  const facts: FileFacts = {
    symbol: list(target.series.map(({ symbol }) => symbol)),
    interval: list(target.series.map(({ interval }) => interval)),
    range: formatRange(plan.range),
    source: source.baseUrl ?? 'unknown',
    version: VERSION,
  }
  return {
    target,
    facts,
    batches: settledBatches(source, series, plan.range, request.signal),
  }
}
