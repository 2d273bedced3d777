import { lstatSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { windowPath } from '../candles/paths.js'
import { seriesName } from '../candles/series.js'
import type { WrittenFile } from '../engine/encode.js'
import { type EncodedTask, type EncodeTask, encodeTasks } from '../engine/encode.js'
import { checkGone, noWholeCandle } from '../engine/errors.js'
import { type ExportReport, warnAbout } from '../engine/export.js'
import { downloadPlan } from '../engine/klines.js'
import { commitFiles, discardFile, type FilePlace, prepareFile, writeFiles } from '../engine/output-file.js'
import { type SeriesReport, Tally } from '../engine/report.js'
import { openRun, type Run, withRun } from '../engine/run.js'
import { countThreads } from '../engine/threads.js'
import type { SeriesPlan } from '../engine/windows.js'
import { checkInside, missingFolders, removeFolders } from '../fs/folders.js'
import { reportFingerprints } from '../rows/fingerprint.js'
import type { SeriesTotals } from '../rows/gaps.js'
import { openFolder, removeLeftovers, removeParts } from './folder.js'
import { parsePartPath } from './layout.js'
import { type LakeLock, lockLake } from './lock.js'
import { encodeManifest, type LakePart, type LakeSeries, MANIFEST_FILE } from './manifest.js'
import {
  compareSeries,
  type LakeJob,
  type LakeRequest,
  parseLakeOptions,
  partKey,
  planLake,
  type SeriesState,
  sourceOf,
} from './plan.js'
import { lakeReadme, lakeViews, README_FILE, VIEWS_FILE } from './readers.js'

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
  openFolder(root)
  const folders = missingFolders(root)
  return withRun(openRun(request), async run => {
    let lock: LakeLock | undefined
    try {
      lock = await lockLake(root)
      return await updateLake(await planLake(request, run), lock)
    } finally {
      await lock?.release()
      // As far as they are empty: a run that failed before its first part leaves nothing.
      removeFolders(folders)
    }
  })
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
  const tally = new Tally(plan, first ? { ...reading, emit: () => {} } : reading)
  for (const { plan: one, old, isUnchanged } of states)
    if (isUnchanged && old) tally.addCounted([one], [reportUnchanged(run, one, old)], [])
  const changed = states.filter(({ isUnchanged }) => !isUnchanged)
  const fingerprint = request.fingerprint || manifest?.series.some(({ fingerprint }) => fingerprint !== undefined)
  const places: FilePlace[] = []
  try {
    const tasks: EncodeTask[] = []
    for (const { plan: one, parts } of changed) {
      const outputs: EncodeTask['outputs'][number][] = []
      for (const { path, range, current } of parts) {
        if (current === undefined) {
          checkInside(root, path)
          places.push(await prepareFile(join(root, path), { force: true }))
        }
        const place = current ? undefined : places.at(-1)
        const spec = { path: place?.path ?? path, format: 'parquet', gzip: false, series: [one.label] } as const
        outputs.push({ ...spec, range, place, stays: current !== undefined })
      }
      tasks.push({ series: [one], outputs, fingerprint, digests: true })
    }
    const windows = changed.reduce((sum, { plan: one }) => sum + one.windows.length, 0)
    const metadata = { range: options.range, source: sourceOf(run) ?? 'unknown' }
    const threads = countThreads(tasks.length, windows, request)
    const format = { rowFormat, metadata, partial: options.partial }
    const encoded = await encodeTasks(reading, tasks, format, { threads, tally })
    const report = first && tally.failures.length === 0 ? first : tally.report(request, true)
    const counted = new Map(tally.reports.map((one, index) => [plan.series[index], one]))
    const { series, files, removed } = await placeParts(job, lock, states, encoded, places, counted)
    const total = series.reduce((sum, { parts }) => sum + parts.length, 0)
    const counts = { written: files.length, unchanged: total - files.length, removed }
    const notRequested = request.prune ? [] : [...job.others.keys()].sort()
    const fingerprints = series.flatMap(({ fingerprint }) => fingerprint ?? [])
    const updated = {
      ...report,
      files,
      ...(request.fingerprint && { fingerprints: reportFingerprints(fingerprints) }),
      lake: { folder: root, ...counts, notRequested },
    }
    warnAbout(updated, files, run.warn)
    checkGone(plan, run)
    return updated
  } finally {
    for (const place of places) await discardFile(place)
  }
}

/** Puts the new parts in their places. The lock is looked at before each change: a run that slept ends there. */
async function placeParts(
  job: LakeJob,
  lock: LakeLock,
  states: readonly SeriesState[],
  encoded: readonly (EncodedTask | undefined)[],
  places: readonly FilePlace[],
  counted: ReadonlyMap<SeriesPlan, SeriesTotals>,
): Promise<{ series: LakeSeries[]; files: WrittenFile[]; removed: string[] }> {
  const { run, folder, options, request, others } = job
  const { root, manifest } = folder
  const source = sourceOf(run) ?? manifest?.source ?? null
  const results = encoded.values()
  const outcomes = states.map(state => ({ state, result: state.isUnchanged ? undefined : results.next().value }))
  const hasRows = ({ result, state }: (typeof outcomes)[number]) =>
    state.parts.some(({ current }, index) => current ?? result?.outputs[index])
  if (!outcomes.some(hasRows)) throw noWholeCandle(job.plan.series)
  const writeRootFile = async (name: string, bytes: Buffer) => {
    checkInside(root, name)
    lock.check()
    await writeFiles([{ path: join(root, name), bytes }], { force: true })
  }
  // From here on, the folder of a killed run is known to be a lake.
  if (manifest === undefined) await writeRootFile(MANIFEST_FILE, encodeManifest({ source, options, series: [] }))
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
      checkInside(root, path)
      const { file, firstOpenTime: first, lastOpenTime: last } = output
      const placed = await commitFiles(places.filter(({ path }) => path === file.path))
      if (placed.length > 0) files.push(file)
      const { size, mtimeMs: mtime } = lstatSync(join(root, path))
      const key = partKey(run, one, range, options, result.digests)
      parts.push({ path, key, size, mtime, rows: file.candles, first, last })
    }
    const { symbol, interval } = one.label
    const { candles, firstOpenTime, lastOpenTime, gaps, missing } = counted.get(one) as SeriesTotals
    const totals = { candles, firstOpenTime, lastOpenTime, gaps, missing }
    series.push({ symbol, interval, source: one.series.interval, seen, totals, parts, fingerprint: result.fingerprint })
  }
  const kept = request.prune ? [] : (manifest?.series.filter(one => others.has(seriesName(one))) ?? [])
  const all = [...kept, ...series]
  const paths = new Set(all.flatMap(({ parts }) => parts.map(({ path }) => path)))
  const gone = folder.parts.filter(path => !paths.has(path) && !wrong.includes(path))
  lock.check()
  removeParts(root, gone)
  await writeRootFile(VIEWS_FILE, lakeViews(root, options))
  await writeRootFile(README_FILE, lakeReadme(options))
  await writeRootFile(MANIFEST_FILE, encodeManifest({ source, options, series: all }))
  return { series, files, removed: [...wrong, ...gone].sort() }
}

/** The report of a series of which nothing was read: its windows are as they were when the manifest was written. */
function reportUnchanged({ mirror }: Run, { series, windows }: SeriesPlan, { totals }: LakeSeries): SeriesReport {
  const total = windows.length
  const counts = { total, cached: total, fetched: 0, revalidated: 0, retained: 0, absent: 0, failed: 0 }
  const cachedBytes = windows
    .map(window => statSync(join(mirror.root, windowPath(window)), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0)
  return { ...series, ...totals, windows: counts, cachedBytes, newCandles: 0, restated: 0, changes: [] }
}
