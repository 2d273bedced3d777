import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { seriesName } from '../candles/series.js'
import { type EncodedTask, type EncodeTask, encodeTasks, type WrittenFile } from '../engine/encode.js'
import { type ExportReport, reportExport, thereOf } from '../engine/export.js'
import { downloadPlan } from '../engine/klines.js'
import { noWholeCandle } from '../engine/no-candles.js'
import { commitFiles, prepareFile, writeFiles } from '../engine/output-file.js'
import { Tally } from '../engine/report.js'
import { openRun, quiet, sourceOf, withRun } from '../engine/run.js'
import { removeLeftovers } from '../fs/files.js'
import { checkInside, missingFolders, removeFolders } from '../fs/folders.js'
import { openFolder, removePart } from './folder.js'
import { partPath } from './layout.js'
import { type LakeLock, lockLake } from './lock.js'
import { encodeManifest, type LakePart, type LakeSeries, MANIFEST_FILE } from './manifest.js'
import { compareSeries, type LakeJob, type LakeRequest, planLake, type SeriesState } from './plan.js'
import { lakeReadme, lakeViews, README_FILE, VIEWS_FILE } from './readers.js'

export interface LakeChanges {
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
 * Downloads what is missing or can still change (unless `offline`), and writes the parts that have changed, each by one rename. No part
 * is replaced before every window is there and valid. Throws what `exportKlines` throws, `bad_output` for a folder that is no lake or has
 * other options, and `lake_busy` when another run writes it.
 *
 * @example
 * const { lake } = await exportLake({ symbols: 'all', intervals: ['1d'], output: 'lake', numbers: 'decimal' })
 */
export async function exportLake(request: LakeRequest): Promise<LakeReport> {
  const root = request.output
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
  const { run, plan: asked, options, rowFormat, request, others } = job
  const { root, manifest } = job.folder
  const { threads, prune } = request
  removeLeftovers(job.folder.parts.map(one => join(root, partPath(one))))
  const report = await downloadPlan(asked, run, request, true)
  const plan = thereOf(asked, run)
  const states: SeriesState[] = []
  for (const one of plan.series) states.push(await compareSeries(job, one))
  const tasks: EncodeTask[] = []
  for (const { plan: one } of states.filter(({ current }) => !current)) {
    const path = partPath(one.label)
    checkInside(root, path)
    const place = await prepareFile(join(root, path), { force: true })
    tasks.push({ series: [one], output: { path: place.path, format: 'parquet', gzip: false, place } })
  }
  const isNamed = request.fingerprint || manifest?.series.some(({ fingerprint }) => fingerprint !== undefined)
  const fingerprint = isNamed ? 'computed' : undefined
  const { range } = plan
  const encoding = { range, source: sourceOf(run), rowFormat, partial: options.partial, fingerprint } as const
  const tally = new Tally({ ...plan, series: tasks.flatMap(task => task.series) }, quiet(run))
  const commit = (encoded: EncodedTask[]) => placeParts(job, lock, states, encoded)
  const { series, files, removed } = await encodeTasks(run, tasks, encoding, { tally, threads }, commit)
  const fingerprints = series.flatMap(({ fingerprint }) => fingerprint ?? [])
  const written = files.length
  const unchanged = series.filter(({ part }) => part).length - written
  const notRequested = prune ? [] : others.map(seriesName)
  const exported = reportExport(plan, run, { ...report, files }, request.fingerprint ? fingerprints : undefined)
  return { ...exported, lake: { folder: root, written, unchanged, removed, notRequested } }
}

/** Puts the new parts in their places. The lock is looked at before each change: a run that slept ends there. */
async function placeParts(
  { run, plan, folder, options, request, others }: LakeJob,
  lock: LakeLock,
  states: readonly SeriesState[],
  encoded: readonly EncodedTask[],
): Promise<{ series: LakeSeries[]; files: WrittenFile[]; removed: string[] }> {
  const { root, manifest } = folder
  const source = sourceOf(run) ?? manifest?.source ?? null
  const hasRows = encoded.some(({ finished }) => finished) || states.some(({ current }) => current?.part)
  if (!hasRows) throw noWholeCandle(plan.series)
  const writeRootFile = async (name: string, bytes: Buffer) => {
    checkInside(root, name)
    lock.check()
    await writeFiles([{ path: join(root, name), bytes }], { force: true })
  }
  // From here on, the folder of a killed run is known to be a lake.
  if (manifest === undefined) await writeRootFile(MANIFEST_FILE, encodeManifest({ source, options, series: [] }))
  const series: LakeSeries[] = []
  const files: WrittenFile[] = []
  const results = encoded.values()
  for (const { plan: one, seen, current } of states) {
    if (current) {
      series.push(current)
      continue
    }
    const { finished, fingerprints } = results.next().value as EncodedTask
    let part: LakePart | undefined
    if (finished?.place) {
      const { file, place } = finished
      lock.check()
      checkInside(root, partPath(one.label))
      const placed = await commitFiles([place])
      if (placed.length > 0) files.push(file)
      const { size, mtimeMs: mtime } = lstatSync(file.path)
      part = { size, mtime, rows: file.candles }
    }
    const { symbol, interval } = one.label
    series.push({ symbol, interval, seen, part, fingerprint: fingerprints[0] })
  }
  const unasked = new Set(request.prune ? [] : others.map(seriesName))
  const kept = manifest?.series.filter(one => unasked.has(seriesName(one))) ?? []
  const all = [...kept, ...series]
  const paths = new Set(all.flatMap(one => (one.part ? [partPath(one)] : [])))
  const removed = folder.parts.map(partPath).filter(path => !paths.has(path))
  lock.check()
  for (const path of removed) removePart(root, path)
  await writeRootFile(VIEWS_FILE, lakeViews(root))
  await writeRootFile(README_FILE, lakeReadme(options))
  await writeRootFile(MANIFEST_FILE, encodeManifest({ source, options, series: all }))
  return { series, files, removed }
}
