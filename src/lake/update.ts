import { lstatSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { KlinesError } from '../candles/errors.js'
import { windowPath } from '../candles/paths.js'
import { type SeriesLabel, seriesName } from '../candles/series.js'
import type { TimeRange } from '../candles/time-range.js'
import { windowSpan } from '../candles/windows.js'
import { downloadPlan } from '../engine/download.js'
import { type EncodedTask, type EncodeTask, encodeTasks } from '../engine/encode.js'
import { joinNames } from '../engine/errors.js'
import { type ExportReport, noWholeCandle, warnAbout } from '../engine/export.js'
import { commitOutputs } from '../engine/output/commit.js'
import { outputError } from '../engine/output/errors.js'
import { discardFile, type FilePlace, OutputFile, prepareFile } from '../engine/output/file.js'
import type { WrittenFile } from '../engine/output/output-writer.js'
import { planRequest } from '../engine/plan.js'
import { completeUntil } from '../engine/read.js'
import { checkGone, type SeriesReport, Tally } from '../engine/report.js'
import type { ReadRequest } from '../engine/rows.js'
import { openRun, type Run, withRun } from '../engine/run.js'
import type { Plan, SeriesPlan } from '../engine/series-plan.js'
import { checkThreads, countThreads, type ThreadOptions } from '../engine/threads.js'
import type { RowFormat } from '../formats/row-format.js'
import { refuseLinks } from '../fs/links.js'
import { makeFolder, missingFolders, removeFolders } from '../fs/make-folder.js'
import { newestCandle } from '../mirror/status.js'
import { CandleGrid } from '../rows/candle-grid.js'
import { reportFingerprints, sha256 } from '../rows/fingerprint.js'
import type { SeriesTotals } from '../rows/gaps.js'
import { VERSION } from '../version.js'
import { checkRoot, isOnDisk, type LakeFolder, openFolder, removeLeftovers, removeParts } from './folder.js'
import { parsePartPath, partPath, partSpan, seriesFolder } from './layout.js'
import { type LakeLock, lockLake } from './lock.js'
import { encodeManifest, type LakeManifest, type LakePart, type LakeSeries, MANIFEST_FILE } from './manifest.js'
import { findDifference, type LakeOptions, type LakeOptionsRequest, parseLakeOptions } from './options.js'
import { lakeReadme, README_FILE } from './readme.js'
import { lakeViews, VIEWS_FILE } from './views.js'

/** Which candles, and the folder of the lake. */
export interface LakeRequest extends ReadRequest, LakeOptionsRequest, ThreadOptions {
  /** The folder; it is made if it is missing. */
  readonly output: string
  /** Remove the parts of series that are not requested. */
  readonly prune?: boolean | undefined
  /** Write all parts again, also with other options than the lake has. */
  readonly force?: boolean | undefined
}

/** What became of the parts of a lake. */
export interface LakeChanges {
  /** The folder as the request names it. */
  readonly folder: string
  /** Numbers of parts of the requested series. */
  readonly written: number
  readonly unchanged: number
  /** Parts that were removed, relative to the folder. */
  readonly removed: readonly string[]
  /** Series that the lake has and that were not requested: `BTCUSDT 1h`. */
  readonly notRequested: readonly string[]
}

/** The result of `exportLake`: `files` are the parts that were written. */
export interface LakeReport extends ExportReport {
  readonly lake: LakeChanges
}

/** A part that a series may have: whether it has rows is known when it is written. */
interface PossiblePart {
  readonly path: string
  /** Open times of its rows, ms UTC. */
  readonly range: TimeRange
  /** The part of the lake that stays. */
  current?: LakePart | undefined
  place?: FilePlace | undefined
}

/** A series of a plan beside what the manifest says of it. */
interface SeriesState {
  readonly plan: SeriesPlan
  readonly seen: string
  readonly old: LakeSeries | undefined
  readonly parts: readonly PossiblePart[]
  /** Whether nothing of it is to be read. */
  readonly isUnchanged: boolean
}

/** What a run brings a lake up to date with. */
export interface LakeJob {
  readonly run: Run
  readonly plan: Plan
  readonly folder: LakeFolder
  readonly options: LakeOptions
  readonly rowFormat: RowFormat
  readonly request: LakeRequest
}

/**
 * Brings a lake up to date: a folder of Parquet files, `symbol=BTCUSDT/interval=1h/part-0.parquet`, that engines read as one table.
 * Downloads what is missing or can still change (unless `offline`), and writes the parts whose inputs have changed, each by one
 * rename; without a change it writes nothing. No part is replaced before every window is there and valid. Throws what `exportKlines`
 * throws, `bad_output` for a folder that is no lake or has other options, and `lake_busy` when another run writes it.
 *
 * @example
 * const { lake } = await exportLake({ symbols: 'all', intervals: ['1d'], output: 'lake', numbers: 'decimal' })
 */
export async function exportLake(request: LakeRequest): Promise<LakeReport> {
  const root = request.output
  parseLakeOptions(request)
  checkRoot(root)
  openFolder(root)
  const folders = missingFolders(root)
  return withRun(openRun(request), async run => {
    let lock: LakeLock | undefined
    try {
      makeRoot(root)
      lock = await lockLake(root)
      return await updateLake(await openLake(request, run), lock)
    } finally {
      await lock?.release()
      // As far as they are empty: a run that failed before its first part leaves nothing.
      removeFolders(folders)
    }
  })
}

/** What a run would do. Throws what is wrong with the request, or with the folder that is there. */
export async function openLake(request: LakeRequest, run: Run): Promise<LakeJob> {
  checkThreads(request)
  const { options, rowFormat } = parseLakeOptions(request)
  checkRoot(request.output)
  const folder = openFolder(request.output, run.warn)
  const { manifest } = folder
  if (!request.force && manifest && isOtherSource(manifest, run)) throw otherSource(folder.root, manifest, run)
  const plan = await planRequest(request, run)
  const labels = plan.series.map(({ label }) => label)
  checkFolderNames(folder, labels)
  const job = { run, plan, folder, options, rowFormat, request }
  const others = otherParts(job)
  if (!request.prune && others.size > 0) checkOthers(job, [...others.keys()])
  return job
}

/** Compares a series with the manifest: what is there and stays. Reads the windows of a series whose files have changed. */
export function compareSeries({ run, plan, folder, options, request }: LakeJob, one: SeriesPlan): SeriesState {
  const seen = describeFiles(run, one, options)
  const old = folder.manifest?.series.find(entry => seriesName(entry) === seriesName(one.label))
  const parts: PossiblePart[] = possibleParts(one, plan.range, options)
  if (old === undefined || request.force) return { plan: one, seen, old: undefined, parts, isUnchanged: false }
  const there = new Map(old.parts.flatMap(part => (isOnDisk(folder.root, part) ? [[part.path, part]] : [])))
  const hasFingerprint = old.fingerprint !== undefined || old.parts.length === 0
  const isUnchanged =
    old.seen === seen &&
    there.size === old.parts.length &&
    !plan.range.endMoves &&
    (hasFingerprint || !request.fingerprint)
  const digests = isUnchanged ? undefined : readDigests(run, one)
  for (const part of parts) {
    const found = there.get(part.path)
    if (isUnchanged || (digests && found?.key === partKey(run, one, part.range, options, digests))) part.current = found
  }
  return { plan: one, seen, old, parts, isUnchanged }
}

/** Writes the parts that are not current, removes those that the lake must not have, and writes the manifest last. */
async function updateLake(job: LakeJob, lock: LakeLock): Promise<LakeReport> {
  const { run, plan, folder, options, rowFormat, request } = job
  const { root, manifest } = folder
  removeLeftovers(root)
  // Only the main thread makes requests.
  const first = run.source ? await downloadPlan(plan, run, request, true) : undefined
  const reading = { ...run, source: undefined }
  const states = plan.series.map(one => compareSeries(job, one))
  const tally = new Tally(plan, reading, first !== undefined)
  for (const { plan: one, old, isUnchanged } of states)
    if (isUnchanged && old) tally.addSeries([one], [reportUnchanged(run, one, old)], [])
  const changed = states.filter(({ isUnchanged }) => !isUnchanged)
  const wantsFingerprint = request.fingerprint || manifest?.series.some(({ fingerprint }) => fingerprint !== undefined)
  try {
    for (const part of changed.flatMap(({ parts }) => parts)) {
      if (part.current) continue
      refuseLinks(root, part.path)
      part.place = await prepareFile(join(root, part.path), { force: true })
    }
    const tasks = changed.map(({ plan: one, parts }): EncodeTask => {
      const outputs = parts.map(({ path, range, place, current }) => {
        const spec = { path: place?.path ?? path, format: 'parquet', gzip: false, series: [one.label] } as const
        return { ...spec, range, place, stays: current !== undefined }
      })
      return { series: [one], outputs, fingerprint: wantsFingerprint, digests: true }
    })
    const windows = changed.reduce((sum, { plan: one }) => sum + one.windows.length, 0)
    const metadata = { range: options.range, source: sourceOf(run) ?? 'unknown' }
    const encoded = await encodeTasks(
      reading,
      tasks,
      { rowFormat, metadata, partial: options.partial },
      {
        threads: countThreads(tasks.length, windows, request),
        tally,
        open: ({ place }) => OutputFile.open(place as FilePlace),
      },
    )
    const report = first && !tally.hasFailed ? first : tally.report(request, true)
    const { series, files, removed } = await placeParts(
      job,
      lock,
      states,
      encoded,
      new Map(tally.reports.map((one, index) => [plan.series[index], one])),
    )
    const fingerprints =
      request.fingerprint && reportFingerprints(series.flatMap(({ fingerprint }) => fingerprint ?? []))
    const total = series.reduce((sum, { parts }) => sum + parts.length, 0)
    const counts = { written: files.length, unchanged: total - files.length, removed }
    const notRequested = request.prune ? [] : [...otherParts(job).keys()].sort()
    const updated = {
      ...report,
      files,
      ...(fingerprints && { fingerprints }),
      lake: { folder: root, ...counts, notRequested },
    }
    warnAbout(updated, files, run.warn)
    checkGone(plan, run)
    return updated
  } finally {
    for (const { parts } of states) for (const { place } of parts) if (place) await discardFile(place)
  }
}

/** Puts the new parts in their places. The lock is looked at before each change: a run that slept ends there. */
async function placeParts(
  job: LakeJob,
  lock: LakeLock,
  states: readonly SeriesState[],
  encoded: readonly (EncodedTask | undefined)[],
  counted: ReadonlyMap<SeriesPlan, SeriesTotals>,
): Promise<{ series: LakeSeries[]; files: WrittenFile[]; removed: string[] }> {
  const { run, folder, options, request } = job
  const { root, manifest } = folder
  const source = sourceOf(run) ?? manifest?.source ?? null
  const others = otherParts(job)
  const kept = request.prune ? [] : (manifest?.series.filter(one => others.has(seriesName(one))) ?? [])
  const results = encoded.values()
  const outcomes = states.map(state => ({ state, result: state.isUnchanged ? undefined : results.next().value }))
  const hasRows = ({ result, state }: (typeof outcomes)[number]) =>
    state.parts.some((part, index) => part.current ?? result?.outputs[index])
  if (!outcomes.some(hasRows)) throw noWholeCandle(job.plan.series)
  // From here on, the folder of a killed run is known to be a lake.
  if (manifest === undefined)
    await writeRootFile(root, MANIFEST_FILE, encodeManifest({ source, options, series: [] }), lock)
  // No reader must see a candle twice: parts of another partitioning go before the first one of the new kind.
  const wrong = folder.parts.filter(path => parsePartPath(path)?.partition !== options.partition)
  lock.check()
  removeParts(root, wrong)
  const series: LakeSeries[] = []
  const files: WrittenFile[] = []
  for (const { state, result } of outcomes) {
    const { plan: one, seen, old } = state
    if (result === undefined) {
      if (old) series.push({ ...old, seen })
      continue
    }
    const parts: LakePart[] = []
    for (const [index, { path, range, current }] of state.parts.entries()) {
      const output = result.outputs[index]
      if (current) parts.push(current)
      if (output === undefined) continue
      lock.check()
      refuseLinks(root, path)
      const placed = await commitOutputs([{ path: output.file.path, finished: output.finished }])
      if (placed.length > 0) files.push(output.file)
      const { size, mtimeMs } = lstatSync(join(root, path))
      const key = partKey(run, one, range, options, result.digests)
      const { firstOpenTime: first, lastOpenTime: last } = output
      parts.push({ path, key, size, mtime: mtimeMs, rows: output.file.candles, first, last })
    }
    const { symbol, interval } = one.label
    const { fingerprint } = result
    const totals = toTotals(counted.get(one) as SeriesTotals)
    series.push({ symbol, interval, source: one.series.interval, seen, totals, parts, fingerprint })
  }
  const all = [...kept, ...series]
  const paths = new Set(all.flatMap(({ parts }) => parts.map(({ path }) => path)))
  const gone = folder.parts.filter(path => !paths.has(path) && !wrong.includes(path))
  lock.check()
  removeParts(root, gone)
  await writeRootFile(root, VIEWS_FILE, lakeViews(root, options), lock)
  await writeRootFile(root, README_FILE, lakeReadme(options), lock)
  await writeRootFile(root, MANIFEST_FILE, encodeManifest({ source, options, series: all }), lock)
  return { series, files, removed: [...wrong, ...gone].sort() }
}

/** Writes a file in the root of a lake by one rename, unless it has these bytes already. */
async function writeRootFile(root: string, name: string, bytes: Buffer, lock: LakeLock): Promise<void> {
  refuseLinks(root, name)
  const file = await OutputFile.create(join(root, name), { force: true })
  try {
    await file.write(bytes)
    await file.finish()
    lock.check()
    await commitOutputs([file])
  } catch (error) {
    await file.discard()
    throw error
  }
}

/** The possible parts of a series in a range, in order of time. */
function possibleParts(
  { series, label, resampleTo, windows }: SeriesPlan,
  range: TimeRange,
  { partition }: LakeOptions,
) {
  const grid = resampleTo && new CandleGrid(resampleTo, series.symbol)
  const parts = new Map<string, PossiblePart>()
  for (const window of windows) {
    const { startTime, endTime } = windowSpan(window)
    // A resampled candle may open before the window of its first candle.
    let time = Math.max(grid ? grid.start(startTime) : startTime, range.fromTime)
    while (time < Math.min(endTime, range.toTime)) {
      const path = partPath(label, partition, time)
      const span = partSpan(partition, time)
      parts.set(path, { path, range: span })
      time = span.toTime
    }
  }
  return [...parts.values()]
}

/** The key of a part: what its bytes follow from. `digests`: SHA-256 of the windows of its series, by startDate. */
function partKey(
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
  const key = [
    VERSION,
    sourceOf(run),
    seriesName(series),
    seriesName(label),
    options,
    rows,
    resampledFrom(run, plan),
    files,
  ]
  return sha256(Buffer.from(JSON.stringify(key)))
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
  const text = [VERSION, sourceOf(run), seriesName(plan.series), options, resampledFrom(run, plan), files]
  return sha256(Buffer.from(JSON.stringify(text)))
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

/** The report of a series of which nothing was read: its windows are as they were when the manifest was written. */
function reportUnchanged({ mirror }: Run, { series, windows }: SeriesPlan, { totals }: LakeSeries): SeriesReport {
  const sizes = windows.map(
    window => statSync(join(mirror.root, windowPath(window)), { throwIfNoEntry: false })?.size ?? 0,
  )
  const counts = {
    total: windows.length,
    cached: windows.length,
    fetched: 0,
    revalidated: 0,
    retained: 0,
    absent: 0,
    failed: 0,
  }
  const cachedBytes = sizes.reduce((sum, size) => sum + size, 0)
  return { ...series, ...totals, windows: counts, cachedBytes, newCandles: 0, restated: 0, changes: [] }
}

function toTotals({ candles, firstOpenTime, lastOpenTime, gaps, missing }: SeriesTotals): SeriesTotals {
  return { candles, firstOpenTime, lastOpenTime, gaps, missing }
}

function sourceOf({ source, mirror }: Run): string | undefined {
  return source?.name ?? mirror.source
}

/** The parts of a lake whose series were not requested, by the names of these. */
export function otherParts({ folder, plan }: LakeJob): Map<string, string[]> {
  const requested = new Set(plan.series.map(({ label }) => seriesName(label)))
  const others = new Map<string, string[]>()
  for (const path of folder.parts) {
    const label = parsePartPath(path)
    const name = label && seriesName(label)
    if (name && !requested.has(name)) others.set(name, [...(others.get(name) ?? []), path])
  }
  return others
}

function isOtherSource({ source }: LakeManifest, run: Run): boolean {
  return source !== null && sourceOf(run) !== undefined && source !== sourceOf(run)
}

function otherSource(root: string, { source }: LakeManifest, run: Run): KlinesError {
  const message = `${root} has candles of ${source}, and this run of ${sourceOf(run)}.`
  const advice =
    'Name the source of the lake with --base-url, another folder with -o, or rewrite all of it with --force.'
  return new KlinesError('bad_output', message, { suggestions: [advice] })
}

/** Throws `bad_output` for series that a run does not write, when they cannot stay beside those that it writes. */
function checkOthers({ folder, run, options }: LakeJob, names: readonly string[]): void {
  const { root, manifest } = folder
  const difference = manifest && findDifference(manifest.options, options)
  if (manifest && !isOtherSource(manifest, run) && difference === undefined) return
  const kept = difference
    ? `their parts would keep ${difference.lake}, and this run has ${difference.request}`
    : 'their parts would keep the old source'
  const reason = manifest ? kept : 'without a manifest, nothing says which options their parts have'
  const message = `${root} also has ${joinNames(names)}, which this run does not write: ${reason}.`
  throw new KlinesError('bad_output', message, { suggestions: ['Request them too, or remove them with --prune.'] })
}

/**
 * Throws `bad_output` for a new series whose folder differs from another one only in upper and lower case, such as 15M (months) beside
 * 15m: on the disks of macOS and Windows it is the same folder. The same for two series of the request that come to one folder.
 */
function checkFolderNames({ root, parts }: LakeFolder, requested: readonly SeriesLabel[]): void {
  const labels = parts.flatMap(path => parsePartPath(path) ?? [])
  const taken = new Map(labels.map(label => [seriesFolder(label).toLowerCase(), label]))
  for (const series of requested) {
    const folder = seriesFolder(series)
    const other = taken.get(folder.toLowerCase())
    if (other === undefined || seriesFolder(other) === folder) continue
    const message = `${root} has ${seriesName(other)}, and the folder ${folder} of this run is the same one on the disks of macOS and Windows.`
    throw new KlinesError('bad_output', message, { suggestions: ['Name another folder with -o.'] })
  }
}

/** Throws `bad_output` or `output_unwritable`. */
function makeRoot(root: string): void {
  try {
    makeFolder(root)
  } catch (error) {
    throw outputError(error, root)
  }
}
