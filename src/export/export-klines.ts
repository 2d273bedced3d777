import { settlePlan } from '../download/download-klines.js'
import { type KlineBatchesRequest, settledBatches } from '../download/kline-batches.js'
import { OnePass } from '../download/one-pass.js'
import { openSource } from '../download/open-source.js'
import { type Plan, planSeries } from '../download/plan.js'
import { parseSelection } from '../download/selection.js'
import type { DownloadReport, Progress } from '../download/settlement.js'
import type { WindowSource } from '../download/window-source.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import type { KlineBatch } from '../klines/kline-batch.js'
import { type SeriesLabel, seriesName } from '../klines/series.js'
import { formatRange, parseRange, type TimeRange } from '../klines/time-range.js'
import { systemClock } from '../service/system-clock.js'
import { VERSION } from '../service/user-agent.js'
import type { FileFacts } from './exporter.js'
import type { Format } from './format.js'
import { checkTarget } from './output-file.js'
import {
  batchesOfPart,
  namedOutputs,
  outputsOf,
  type Part,
  partsOf,
  planOf,
  type ResampleRequest,
  rangeOfSources,
  sourcesOf,
} from './parts.js'
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
 * Brings what is not final into the mirror (unless `offline`) and exports the range. Everything is had and found sound
 * before a file is put in place or a byte goes to stdout, so a failed run exports nothing. Throws what `downloadKlines` throws, `bad_output`,
 * `output_exists`, `output_unwritable`, and `digits_lost` when a decimal does not fit `numbers: 'decimal'`.
 */
export async function exportKlines(request: ExportRequest, progress?: Progress): Promise<ExportReport> {
  const { warn = () => {} } = request
  checkTemplate(request.output, request.format)
  const selection = parseSelection(request.symbols, request.intervals)
  const range = parseRange(request, request.now ?? systemClock.now())
  // Before a mirror is made for what is going to be refused.
  const named = namedOutputs(request, selection)
  if (named) await checkTargets(request, named)
  const source = await openSource(request, { remember: true })
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

/** An export that is known to make sense. */
interface Job {
  readonly source: WindowSource
  readonly plan: Plan
  readonly parts: readonly Part[]
  readonly targets: readonly Target[]
  readonly shape: Shape
  /** Open times of the rows that are wanted; those of the sources may reach further. */
  readonly range: TimeRange
}

/**
 * Files are written while windows come, and put in place when all are sound. What has gone to stdout cannot be taken back, so
 * everything is had before; likewise where two parts are made of one series, which would have to be had twice.
 */
async function settleAndWrite(
  job: Job,
  request: ExportRequest,
  progress: Progress | undefined,
): Promise<{ report: DownloadReport; files: WrittenFile[] }> {
  const { source, plan, parts, targets, shape } = job
  const { force = false, signal } = request
  if (targets.some(({ path }) => path === '-') || plan.series.length < parts.length) {
    const report = await settlePlan(source, plan, request, progress)
    const contents = contentsOf(job, request, part => settledBatches(source, planOf(part, plan), plan.range, signal))
    return { report, files: await writeTargets(contents, shape, { force, signal }) }
  }
  const order = targets.flatMap(target => partsIn(target, parts)).map(part => planOf(part, plan))
  const pass = new OnePass(source, plan, order, request, progress)
  try {
    const contents = contentsOf(job, request, part => pass.batches(part.source))
    const files = await writeTargets(contents, shape, { force, signal, ready: () => pass.settle() })
    return { report: await pass.settle(), files }
  } catch (error) {
    // The other windows are had, too, for next time; and the message names all that could not be.
    if (isKlinesError(error, 'incomplete')) await pass.settle()
    throw error
  } finally {
    await pass.close()
  }
}

/** The files of an export and the shape of their rows, checked before any work is done for them. */
export async function checkTargets(
  request: ExportRequest,
  outputs: readonly SeriesLabel[],
): Promise<{ targets: Target[]; shape: Shape }> {
  const targets = planTargets(request.output, request.format, outputs)
  const shape = parseShape(request, targets[0].format)
  for (const { path } of targets) if (path !== '-') await checkTarget(path, request.force ?? false)
  return { targets, shape }
}

/** What goes into each target; `read` gives the candles of a part's source. */
function contentsOf(
  { source, plan, parts, targets, range }: Job,
  { partial }: ExportRequest,
  read: (part: Part) => AsyncIterable<KlineBatch>,
): TargetContent[] {
  const list = (values: readonly string[]) => [...new Set(values)].join(',')
  return targets.map(target => {
    const facts: FileFacts = {
      symbol: list(target.series.map(({ symbol }) => symbol)),
      interval: list(target.series.map(({ interval }) => interval)),
      range: formatRange(range),
      source: source.baseUrl ?? 'unknown',
      version: VERSION,
    }
    return { target, facts, batches: batchesOfAll() }

    async function* batchesOfAll(): AsyncGenerator<KlineBatch> {
      for (const part of partsIn(target, parts)) yield* batchesOfPart(read(part), part, plan, { range, partial })
    }
  })
}

function partsIn(target: Target, parts: readonly Part[]): Part[] {
  const names = new Set(target.series.map(seriesName))
  return parts.filter(({ output }) => names.has(seriesName(output)))
}

function noWholeCandle([{ output, source }]: readonly Part[]): KlinesError {
  const message = `The ${source.interval} candles of the range do not cover a whole ${output.interval} candle; nothing is written.`
  return new KlinesError('no_candles', message, { suggestions: ['--partial keeps candles that are covered in part.'] })
}
