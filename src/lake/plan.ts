import { join } from 'node:path'
import { KlinesError } from '../candles/errors.js'
import { seriesName } from '../candles/series.js'
import { describeRange, type RangeText } from '../candles/time-range.js'
import { type DryRunReport, describePlan, type ReadRequest } from '../engine/klines.js'
import { planRequest } from '../engine/plan.js'
import { completeUntil } from '../engine/read.js'
import { openRun, type Run, type SeriesPlan, sourceOf, withRun } from '../engine/run.js'
import { checkThreads, type ThreadOptions } from '../engine/threads.js'
import { isSeriesColumn, parseRowFormat, type RowFormat } from '../formats/row-format.js'
import { joinNames } from '../mirror/errors.js'
import { newestCandle } from '../mirror/status.js'
import { inTurns } from '../mirror/turns.js'
import { type OptionOf, type OutputRequest, valuesFor } from '../options.js'
import { sha256 } from '../rows/fingerprint.js'
import { VERSION } from '../version.js'
import { isOnDisk, openFolder } from './folder.js'
import { partPath } from './layout.js'
import type { LakeOptions } from './manifest.js'

/** Which candles, and the folder of the lake. `columns` are without `symbol` and `interval`, which the folders name. */
export interface LakeRequest extends ReadRequest, RangeText, ThreadOptions, Pick<OutputRequest, OptionOf<'parquet'>> {
  /** The folder; it is made if it is missing. */
  readonly output: string
  /** Remove the parts of series that are not requested. */
  readonly prune?: boolean | undefined
  /** Write all parts again, also with other options than the lake has. */
  readonly force?: boolean | undefined
}

export type LakeJob = Awaited<ReturnType<typeof planLake>>
/** A series of a plan beside what the manifest says of it. */
export type SeriesState = Awaited<ReturnType<typeof compareSeries>>

/** Throws `bad_option`. */
function parseLakeOptions(request: LakeRequest): { options: LakeOptions; rowFormat: RowFormat } {
  const { resample = null, partial = false } = request
  checkThreads(request)
  // Callers without types may name options of other formats, which are refused.
  const rowFormat = parseRowFormat(request, 'parquet')
  const named = rowFormat.columns.find(isSeriesColumn)
  if (named !== undefined) {
    const message = `--columns has "${named}", which the folders of a lake name. Leave it out.`
    throw new KlinesError('bad_option', message)
  }
  const content = valuesFor(rowFormat, 'parquet')
  return { options: { range: describeRange(request), ...content, resample, partial }, rowFormat }
}

/** Throws what is wrong with the request, or with the folder that is there. */
export async function planLake(request: LakeRequest, run: Run) {
  const { options, rowFormat } = parseLakeOptions(request)
  const folder = openFolder(request.output, run.warn)
  const { root, manifest, parts } = folder
  const fail = (message: string, ...suggestions: string[]): never => {
    throw new KlinesError('bad_output', message, { suggestions })
  }
  const [source, other] = [sourceOf(run), manifest?.source ?? undefined]
  const isOtherSource = other !== undefined && source !== undefined && other !== source
  if (isOtherSource && !request.force)
    fail(
      `${root} has candles of ${other}, and this run of ${source}.`,
      'Name the source of the lake with --base-url, another folder with -o, or rewrite all of it with --force.',
    )
  const plan = await planRequest(request, run)
  const requested = new Set(plan.series.map(({ label }) => seriesName(label)))
  /** The series that the lake has and that were not requested. */
  const others = parts.filter(series => !requested.has(seriesName(series)))
  // Parts of one lake may be compressed in different ways.
  const describe = (lake: LakeOptions | undefined) => JSON.stringify(lake && { ...lake, compression: undefined })
  const isMixed = isOtherSource || describe(manifest?.options) !== describe(options)
  if (isMixed && others.length > 0 && !request.prune)
    fail(
      `${root} also has ${joinNames(others.map(seriesName))}, which this run does not write: their parts would keep another source or other options.`,
      'Request them too, or remove them with --prune.',
    )
  return { run, plan, folder, options, rowFormat, request, others }
}

/** Compares a series with the manifest. */
export async function compareSeries({ run, folder, options, request }: LakeJob, one: SeriesPlan) {
  const { root, manifest } = folder
  const seen = await keyOf(run, one, options)
  const old = request.force ? undefined : manifest?.series.find(entry => seriesName(entry) === seriesName(one.label))
  const hasFingerprint = !request.fingerprint || old?.fingerprint !== undefined || old?.part === undefined
  const isThere = old?.part === undefined || isOnDisk(root, one.label, old.part)
  const isCurrent = old?.seen === seen && hasFingerprint && isThere
  /** What the lake has of it, when all of that stays. */
  const current = isCurrent ? old : undefined
  return { plan: one, seen, current }
}

/** The key of the inputs of a series: the digests of its windows, so that a copied mirror has the same, and what is made of them. */
async function keyOf(
  run: Run,
  { series, range, resampleTo, windows }: SeriesPlan,
  options: LakeOptions,
): Promise<string> {
  const { mirror, signal } = run
  const files: (readonly [string, string | undefined])[] = []
  for await (const window of inTurns(windows, signal)) files.push([window.startDate, mirror.digest(window)])
  // A delisted symbol is complete when the exchange has no further candle.
  const until = resampleTo && String(await completeUntil(run, windows, newestCandle(mirror, series)))
  const made = [seriesName(series), range.fromTime, range.toTime, options, resampleTo, until]
  const text = JSON.stringify([VERSION, sourceOf(run), made, files])
  return sha256(Buffer.from(text))
}

/** What `exportLake` would download and write: the part of each series that may have changed; and what `prune` would remove. */
export async function dryRunLake(request: LakeRequest): Promise<DryRunReport> {
  return withRun(openRun(request, { readOnly: true }), async run => {
    const { output: root, prune } = request
    const job = await planLake(request, run)
    const plan = await describePlan(job.plan, run)
    const changed: SeriesPlan[] = []
    for (const [index, one] of job.plan.series.entries()) {
      const { open, missing } = plan.series[index].windows
      if (open + missing > 0 || (await compareSeries(job, one)).current === undefined) changed.push(one)
    }
    const files = changed.map(({ label }) => join(root, partPath(label)))
    const removed = prune ? job.others.map(one => join(root, partPath(one))) : []
    return { ...plan, files, removed }
  })
}
