import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { KlinesError } from '../candles/errors.js'
import { windowPath } from '../candles/paths.js'
import { type SeriesLabel, seriesName } from '../candles/series.js'
import { describeRange, type RangeText, type TimeRange } from '../candles/time-range.js'
import { windowSpan } from '../candles/windows.js'
import type { ReadRequest } from '../engine/klines.js'
import { type DryRunReport, describePlan } from '../engine/klines.js'
import { planRequest } from '../engine/plan.js'
import { completeUntil } from '../engine/read.js'
import { openRun, type Run, withRun } from '../engine/run.js'
import { checkThreads, type ThreadOptions } from '../engine/threads.js'
import type { Plan, SeriesPlan } from '../engine/windows.js'
import { isSeriesColumn, parseRowFormat, type RowFormat } from '../formats/row-format.js'
import { joinNames } from '../mirror/errors.js'
import { newestCandle } from '../mirror/status.js'
import { type OptionOf, type OutputRequest, valuesFor } from '../options.js'
import { CandleGrid } from '../rows/candle-grid.js'
import { sha256 } from '../rows/fingerprint.js'
import { VERSION } from '../version.js'
import { isOnDisk, type LakeFolder, openFolder } from './folder.js'
import { PART_FILE, PARTITIONS, type Partition, type PartPlace, parsePartPath, partAt, seriesFolder } from './layout.js'
import type { LakeOptions, LakePart, LakeSeries } from './manifest.js'

/** Which candles, and the folder of the lake. `columns` are without `symbol` and `interval`, which the folders name. */
export interface LakeRequest extends ReadRequest, RangeText, ThreadOptions, Pick<OutputRequest, OptionOf<'parquet'>> {
  /** The folder; it is made if it is missing. */
  readonly output: string
  /** Split each series into a part a year or a month. Default `none`: one part. */
  readonly partition?: Partition | undefined
  /** Remove the parts of series that are not requested. */
  readonly prune?: boolean | undefined
  /** Write all parts again, also with other options than the lake has. */
  readonly force?: boolean | undefined
  /** These two are refused: a lake has all candles of its range. */
  readonly limit?: number | undefined
  readonly tail?: number | undefined
}

/** What a run brings a lake up to date with. */
export interface LakeJob {
  readonly run: Run
  readonly plan: Plan
  readonly folder: LakeFolder
  readonly options: LakeOptions
  readonly rowFormat: RowFormat
  readonly request: LakeRequest
  /** The parts of the lake whose series were not requested, by the names of these. */
  readonly others: ReadonlyMap<string, readonly string[]>
}

/** A series of a plan beside what the manifest says of it. */
export interface SeriesState {
  readonly plan: SeriesPlan
  readonly seen: string
  readonly old: LakeSeries | undefined
  /** The parts that the series may have, and those of the lake that stay. Whether one has rows is known when it is written. */
  readonly parts: readonly (PartPlace & { readonly current: LakePart | undefined })[]
  /** Whether nothing of it is to be read. */
  readonly isUnchanged: boolean
}

/** The options of a request, and the row format of its parts. Throws `bad_option`. */
export function parseLakeOptions(request: LakeRequest): { options: LakeOptions; rowFormat: RowFormat } {
  const { resample = null, partial = false, partition = 'none', limit, tail } = request
  checkThreads(request)
  // Callers without types may name options of other formats, which are refused.
  const rowFormat = parseRowFormat(request, 'parquet')
  const fail = (message: string): never => {
    throw new KlinesError('bad_option', message)
  }
  if (limit !== undefined || tail !== undefined)
    fail('--limit and --tail are for files and stdout; a lake has all candles of its range.')
  const named = rowFormat.columns.find(isSeriesColumn)
  if (named !== undefined) fail(`--columns has "${named}", which the folders of a lake name. Leave it out.`)
  if (!PARTITIONS.includes(partition)) fail(`--partition is "${partition}". Expected ${PARTITIONS.join(', ')}.`)
  const content = valuesFor(rowFormat, 'parquet')
  return { options: { range: describeRange(request), ...content, resample, partial, partition }, rowFormat }
}

/** What a run would do. Throws what is wrong with the request, or with the folder that is there. */
export async function planLake(request: LakeRequest, run: Run): Promise<LakeJob> {
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
  const others = new Map<string, string[]>()
  for (const path of parts) {
    const name = seriesName(parsePartPath(path) as SeriesLabel)
    if (!requested.has(name)) others.set(name, [...(others.get(name) ?? []), path])
  }
  // Parts of one lake may be compressed in different ways.
  const describe = (lake: LakeOptions | undefined) => JSON.stringify(lake && { ...lake, compression: undefined })
  const isMixed = isOtherSource || describe(manifest?.options) !== describe(options)
  if (isMixed && others.size > 0 && !request.prune)
    fail(
      `${root} also has ${joinNames([...others.keys()])}, which this run does not write: their parts would keep another source or other options.`,
      'Request them too, or remove them with --prune.',
    )
  return { run, plan, folder, options, rowFormat, request, others }
}

/** Compares a series with the manifest: what is there and stays. Reads the windows of a series whose files have changed. */
export function compareSeries({ run, plan, folder, options, request }: LakeJob, one: SeriesPlan): SeriesState {
  const seen = describeFiles(run, one, options)
  const found = folder.manifest?.series.find(entry => seriesName(entry) === seriesName(one.label))
  const old = request.force ? undefined : found
  const there = new Map(old?.parts.flatMap(part => (isOnDisk(folder.root, part) ? [[part.path, part]] : [])))
  const lacksFingerprint = request.fingerprint && old?.fingerprint === undefined && old?.parts.length !== 0
  const isUnchanged = old?.seen === seen && there.size === old.parts.length && !plan.range.endMoves && !lacksFingerprint
  const digests = isUnchanged || there.size === 0 ? new Map() : readDigests(run, one)
  const parts = possibleParts(one, plan.range, options).map(part => {
    const current = there.get(part.path)
    const stays = isUnchanged || (current && current.key === partKey(run, one, part.range, options, digests))
    return { ...part, current: stays ? current : undefined }
  })
  return { plan: one, seen, old, parts, isUnchanged }
}

/** The possible parts of a series in a range, in order of time. */
function possibleParts(
  { series, label, resampleTo, windows }: SeriesPlan,
  { fromTime, toTime }: TimeRange,
  { partition }: LakeOptions,
): PartPlace[] {
  const grid = resampleTo && new CandleGrid(resampleTo, series.symbol)
  const parts = new Map<string, PartPlace>()
  for (const window of windows) {
    const { startTime, endTime } = windowSpan(window)
    // A resampled candle may open before the window of its first candle.
    let time = Math.max(grid ? grid.start(startTime) : startTime, fromTime)
    while (time < Math.min(endTime, toTime)) {
      const part = partAt(label, partition, time)
      parts.set(part.path, part)
      time = part.range.toTime
    }
  }
  return [...parts.values()]
}

/** The key of a part: what its bytes follow from. `digests`: SHA-256 of the windows of its series, by startDate. */
export function partKey(
  run: Run,
  plan: SeriesPlan,
  range: TimeRange,
  options: LakeOptions,
  digests: ReadonlyMap<string, string>,
): string {
  const { series, label, resampleTo, windows } = plan
  const needed = windows.filter(window => {
    const { startTime, endTime } = windowSpan(window)
    return resampleTo !== undefined || (startTime < range.toTime && endTime > range.fromTime)
  })
  const files = needed.map(({ startDate }) => [startDate, digests.get(startDate)])
  const rows = [Math.max(plan.range.fromTime, range.fromTime), Math.min(plan.range.toTime, range.toTime)].map(String)
  const names = [seriesName(series), seriesName(label)]
  return hashOf([VERSION, sourceOf(run), ...names, options, rows, resampledFrom(run, plan), files])
}

/** What resampled candles follow from beside windows: the grid, and until when a delisted symbol is complete. */
function resampledFrom({ mirror }: Run, { resampleTo, series, windows }: SeriesPlan): unknown[] {
  return resampleTo ? [resampleTo, String(completeUntil(mirror, windows, newestCandle(mirror, series)))] : []
}

/** A text that changes whenever a file changes that a series is made of, or what is made of it. Reads no window. */
function describeFiles(run: Run, plan: SeriesPlan, options: LakeOptions): string {
  const files = plan.windows.map(window => {
    const stats = statSync(join(run.mirror.root, windowPath(window)), { throwIfNoEntry: false })
    return [window.startDate, stats?.ino, stats?.size, stats?.ctimeMs]
  })
  return hashOf([VERSION, sourceOf(run), seriesName(plan.series), options, resampledFrom(run, plan), files])
}

function hashOf(value: unknown): string {
  return sha256(Buffer.from(JSON.stringify(value)))
}

/** The SHA-256 of the files of a series; without those that cannot be read, which are named when they are read as windows. */
function readDigests({ mirror }: Run, { windows }: SeriesPlan): Map<string, string> {
  const digests = new Map<string, string>()
  for (const window of windows) {
    try {
      digests.set(window.startDate, sha256(readFileSync(join(mirror.root, windowPath(window)))))
    } catch {
      return new Map()
    }
  }
  return digests
}

/** The name of the source of the candles; undefined for that of a mirror that does not say it. */
export function sourceOf({ source, mirror }: Run): string | undefined {
  return source?.name ?? mirror.source
}

/**
 * What `exportLake` would download and write: of each series that has changed, or may have changed, the part; with a partitioning
 * by time, its folder; and what `prune` would remove. Stores and writes nothing. Throws what `exportLake` would throw about the request
 * and the folder.
 */
export async function dryRunLake(request: LakeRequest): Promise<DryRunReport> {
  return withRun(openRun(request, { readOnly: true }), async run => {
    const { output: root, prune, partition = 'none' } = request
    const job = await planLake(request, run)
    const plan = describePlan(job.plan, run)
    const changed = job.plan.series.filter((one, index) => {
      const { open, missing } = plan.series[index].windows
      if (open + missing > 0) return true
      const { isUnchanged, parts } = compareSeries(job, one)
      return !isUnchanged && parts.some(({ current }) => current === undefined)
    })
    const name = partition === 'none' ? PART_FILE : ''
    const files = changed.map(({ label }) => join(root, seriesFolder(label), name))
    const removed = prune ? [...job.others.values()].flat().map(path => join(root, path)) : []
    return { ...plan, files, removed }
  })
}
