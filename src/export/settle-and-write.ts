import { downloadPlan } from '../download/download.js'
import { OnePass } from '../download/one-pass.js'
import type { SourceOptions } from '../download/open-source.js'
import type { Plan } from '../download/plan.js'
import { settledBatches } from '../download/read.js'
import type { DownloadReport, Progress } from '../download/tally.js'
import type { WindowSource } from '../download/window-source.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { isKlinesError } from '../klines/errors.js'
import { seriesName } from '../klines/series.js'
import { formatRange, type TimeRange } from '../klines/time-range.js'
import { VERSION } from '../version.js'
import type { FileMetadata } from './formats/exporter.js'
import { isStream } from './output/open.js'
import { batchesOfPart, type ExportSeries, planOf, type ResampleRequest } from './parts.js'
import type { RowFormat } from './row-format.js'
import type { Target } from './targets.js'
import { type TargetContent, type WrittenFile, writeTargets } from './write.js'

/** How an export is to be done. */
interface Request extends SourceOptions, Pick<ResampleRequest, 'partial'> {
  readonly force?: boolean | undefined
}

/** An export that is known to make sense. */
export interface Job {
  readonly source: WindowSource
  readonly plan: Plan
  readonly parts: readonly ExportSeries[]
  readonly targets: readonly Target[]
  readonly shape: RowFormat
  /** Open times of the rows that are wanted; those of the sources may reach further. */
  readonly range: TimeRange
}

/**
 * Files are written while windows come, and put in place when all are sound. What has gone to stdout or into a pipe cannot be
 * taken back, so everything is had before; likewise where two parts are made of one series, which would have to be had twice.
 */
export async function settleAndWrite(
  job: Job,
  request: Request,
  progress: Progress | undefined,
): Promise<{ report: DownloadReport; files: WrittenFile[] }> {
  const { source, plan, parts, targets, shape } = job
  const { force = false, signal } = request
  const streams = await Promise.all(targets.map(({ path }) => isStream(path)))
  if (streams.includes(true) || plan.series.length < parts.length) {
    const report = await downloadPlan(source, plan, request, progress)
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
    pass.close()
  }
}

/** What goes into each target; `read` gives the candles of a part's source. */
function contentsOf(
  { source, plan, parts, targets, range }: Job,
  { partial }: Request,
  read: (part: ExportSeries) => AsyncIterable<KlineBatch>,
): TargetContent[] {
  const list = (values: readonly string[]) => [...new Set(values)].join(',')
  return targets.map(target => {
    const facts: FileMetadata = {
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

function partsIn(target: Target, parts: readonly ExportSeries[]): ExportSeries[] {
  const names = new Set(target.series.map(seriesName))
  return parts.filter(({ output }) => names.has(seriesName(output)))
}
