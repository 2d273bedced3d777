import { type DownloadReport, type Progress, settlePlan } from '../download/download-klines.js'
import type { KlineBatchesRequest } from '../download/kline-batches.js'
import { openSource } from '../download/open-source.js'
import { type Plan, planSeries } from '../download/plan.js'
import { parseSelection } from '../download/selection.js'
import type { WindowSource } from '../download/window-source.js'
import { KlinesError } from '../klines/errors.js'
import type { KlineBatch } from '../klines/kline-batch.js'
import { seriesName } from '../klines/series.js'
import { formatRange, parseRange, type TimeRange } from '../klines/time-range.js'
import { systemClock } from '../service/system-clock.js'
import { VERSION } from '../service/user-agent.js'
import type { FileFacts } from './exporter.js'
import type { Format } from './format.js'
import { checkTarget } from './output-file.js'
import { batchesOfPart, type Part, partsOf, type ResampleRequest, rangeOfSources, sourcesOf } from './parts.js'
import { type NumberType, parseShape, type Shape, type TimeFormat } from './shape.js'
import { checkTemplate, planTargets, type Target } from './targets.js'
import { type TargetContent, type WrittenFile, writeTargets } from './write-targets.js'

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
    const parts = await partsOf(request, source, selection)
    const { targets, shape } = await checkTargets(request, parts)
    const plan = await planSeries(source, sourcesOf(parts), rangeOfSources(parts, range))
    const report = await settlePlan(source, plan, request, progress)
    for (const one of report.series) if (one.rows === 0) warn(`No candle of ${seriesName(one)} opens in the range.`)
    const contents = targets.map(target => contentOf(target, parts, { source, plan, range }, request))
    const files = await writeTargets(contents, shape, force, request.signal)
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
  parts: readonly Part[],
): Promise<{ targets: Target[]; shape: Shape }> {
  const outputs = parts.map(({ output }) => output)
  const targets = planTargets(request.output, request.format, outputs)
  const shape = parseShape(request, targets[0].format)
  for (const { path } of targets) if (path !== '-') await checkTarget(path, request.force ?? false)
  return { targets, shape }
}

function contentOf(
  target: Target,
  parts: readonly Part[],
  { source, plan, range }: { source: WindowSource; plan: Plan; range: TimeRange },
  { partial, signal }: ExportRequest,
): TargetContent {
  const names = new Set(target.series.map(seriesName))
  const list = (values: readonly string[]) => [...new Set(values)].join(',')
  const facts: FileFacts = {
    symbol: list(target.series.map(({ symbol }) => symbol)),
    interval: list(target.series.map(({ interval }) => interval)),
    range: formatRange(range),
    source: source.baseUrl ?? 'unknown',
    version: VERSION,
  }
  return { target, facts, batches: batchesOfAll() }

  async function* batchesOfAll(): AsyncGenerator<KlineBatch> {
    for (const part of parts) {
      if (names.has(seriesName(part.output))) yield* batchesOfPart(source, part, plan, { range, partial, signal })
    }
  }
}

function noWholeCandle([{ output, source }]: readonly Part[]): KlinesError {
  const message = `The ${source.interval} candles of the range do not cover a whole ${output.interval} candle; nothing is written.`
  return new KlinesError('no_candles', message, { suggestions: ['--partial keeps candles that are covered in part.'] })
}
