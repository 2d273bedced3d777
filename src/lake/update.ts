import { randomUUID } from 'node:crypto'
import { dirname, join, relative } from 'node:path'
import { downloadSeries } from '../download/download.js'
import { type DownloadReport, DownloadTally } from '../download/tally.js'
import type { PlannedSeries } from '../export/export-series.js'
import { type FileContent, fileHasContent, hasSameContent } from '../export/file-content.js'
import { type FilePlace, OutputFile } from '../export/output/file.js'
import type { WrittenFile } from '../export/output-writer.js'
import { type ExportReport, noWholeCandle } from '../export/write.js'
import { writeTasks } from '../export/write-tasks.js'
import { reportFingerprints } from '../fingerprint/fingerprint.js'
import { seriesName } from '../klines/series.js'
import { countThreads } from '../threads/thread-count.js'
import type { DeltaLog } from './delta/actions.js'
import { commitVersion, nextVersion } from './delta/commit.js'
import { readLog } from './delta/log.js'
import { type FinishedParts, findRemoved, finishPlain, finishTable, removeUnnamed } from './finish.js'
import type { LakeFolder } from './folder.js'
import { PART_FILE, parsePartPath, versionedPartFile } from './layout.js'
import type { LakeSeries } from './manifest.js'
import { type PartOnDisk, type PartOptions, SeriesParts } from './parts/series-parts.js'
import type { SeriesState } from './parts/series-state.js'
import type { LakeJob, LakePlan, UpdateOptions } from './plan.js'
import { removeLeftovers, removeParts } from './removal.js'
import { RootFiles } from './root/files.js'

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
  /** Of a Delta table: its newest version, whether this run made it, and how many files of old versions were removed. */
  readonly delta?: { readonly version: number; readonly isNew: boolean; readonly vacuumed: number }
}

/** The result of `exportLake`: `files` are the parts that were written. */
export interface LakeReport extends ExportReport {
  readonly lake: LakeChanges
}

/** Writes the parts that are not current, removes those that the lake must not have, and writes the manifest last. */
export class LakeUpdate {
  private readonly files: WrittenFile[] = []
  /** Parts that were removed before the first one of another partitioning. */
  private readonly removed: string[] = []
  private readonly folder: LakeFolder
  private readonly job: LakeJob
  private readonly isDelta: boolean
  private readonly source: string | null
  private readonly rootFiles: RootFiles
  private hasBegun: boolean

  /** `report`: of the download. Undefined for a mirror alone, whose windows are checked while the parts are written. */
  constructor(
    private readonly plan: LakePlan,
    private readonly report: DownloadReport | undefined,
    private readonly options: UpdateOptions,
  ) {
    const { folder, job } = plan
    this.folder = folder
    this.job = job
    const { root, manifest, log } = folder
    this.isDelta = plan.live !== undefined
    this.source = job.source.info.baseUrl ?? plan.kept?.source ?? null
    this.rootFiles = new RootFiles(root, { source: this.source, options: job.options }, manifest, options.checkLock)
    // With a log, the manifest of the version before is right until the next one is complete.
    const hasManifest = manifest !== undefined && (this.isDelta || log !== undefined)
    this.hasBegun = plan.kept !== undefined || hasManifest
  }

  async run(): Promise<LakeReport> {
    const { folder, options, files, rootFiles } = this
    const { root } = folder
    options.checkLock()
    removeLeftovers(root)
    const { series, gone, report, log } = await this.updateParts().catch(async error => {
      if (this.isDelta) await this.discardParts()
      throw error
    })
    const finished: FinishedParts = { series: [...series, ...this.plan.keptSeries()], gone }
    const vacuumed = log && (await finishTable(folder, log, finished, rootFiles, options))
    if (log === undefined) await finishPlain(folder, finished, rootFiles, options)
    const unchanged = series.flatMap(({ parts }) => parts).length - files.length
    const removed = [...new Set([...this.removed, ...findRemoved(finished)])]
    const notRequested = options.prune ? [] : [...this.plan.others.keys()].sort()
    const delta = log && { version: log.version, isNew: log !== folder.log, vacuumed: vacuumed ?? 0 }
    const fingerprints =
      options.fingerprint && reportFingerprints(series.flatMap(({ fingerprint }) => fingerprint ?? []))
    const counts = { written: files.length, unchanged, removed, notRequested }
    return {
      ...report,
      files,
      ...(fingerprints && { fingerprints }),
      lake: { folder: root, ...counts, ...(delta && { delta }) },
    }
  }

  /** Brings the parts up to date and, of a table, the log. */
  private async updateParts() {
    const { folder, job, options } = this
    const { series, report } = await this.updateSeries()
    const paths = new Set(series.flatMap(({ parts }) => parts.map(({ path }) => path)))
    if (paths.size === 0) throw noWholeCandle(job.series)
    const kept = options.prune ? [] : [...this.plan.others.values()].flat()
    const gone = folder.parts.filter(path => !paths.has(path) && !kept.includes(path))
    const log = this.isDelta ? await this.commit(series, gone) : undefined
    return { series, gone, report, log }
  }

  /** Writes the parts that are not current beside their places, and puts them there when all windows were valid. */
  private async updateSeries(): Promise<{ series: LakeSeries[]; report: DownloadReport }> {
    const { folder, job, options } = this
    const { root, log } = folder
    const states = job.series.map(planned => this.plan.stateOf(planned))
    const partFile = this.isDelta ? versionedPartFile(nextVersion(log), randomUUID()) : PART_FILE
    const written = new Map<SeriesState, SeriesParts>()
    try {
      const report = await writeChanged(states, { ...job, report: this.report }, options, { root, partFile }, written)
      const series: LakeSeries[] = []
      for (const state of states) {
        options.signal?.throwIfAborted()
        series.push(await this.place(state, written.get(state)))
      }
      return { series, report }
    } finally {
      for (const parts of written.values()) await parts.discard()
    }
  }

  private async place(state: SeriesState, written: SeriesParts | undefined): Promise<LakeSeries> {
    if (written === undefined) return state.describe(state.parts)
    const parts = await written.place({
      findSame: (folder, content) => this.findSame(state, folder, content),
      beforeCommit: () => this.beforeCommit(state.planned),
      placed: file => this.files.push(file),
    })
    return state.describe(parts, written.encoded)
  }

  /** The part in a folder, if it has a content. The manifest may lack a version of the log that a killed run has made. */
  private findSame(state: SeriesState, folder: string, content: FileContent): PartOnDisk | undefined {
    const part = state.partOnDisk(folder)
    if (part) return hasSameContent(part, content) ? part : undefined
    const { live } = this.plan
    if (live === undefined || this.options.force) return undefined
    const path = [...live].find(path => dirname(path) === folder)
    return path !== undefined && fileHasContent(join(this.folder.root, path), content) ? { path } : undefined
  }

  /**
   * A new lake gets its manifest before its first part, so that the folder of a killed run is known to be a lake. A part of
   * another partitioning goes before the first one of the new kind: no reader must see a candle twice. Last, a run that slept must
   * still have its lock.
   */
  private async beforeCommit(series: PlannedSeries): Promise<void> {
    await this.prepareFolder(series)
    this.options.checkLock()
  }

  private async prepareFolder(series: PlannedSeries): Promise<void> {
    const { folder, job, options } = this
    if (!this.hasBegun) await this.rootFiles.writeManifest(this.plan.keptSeries())
    this.hasBegun = true
    if (this.isDelta || folder.log) return
    const wrong = folder.parts.filter(path => {
      const label = parsePartPath(path)
      return label && seriesName(label) === seriesName(series) && label.partition !== job.options.partition
    })
    options.checkLock()
    removeParts(folder.root, wrong)
    this.removed.push(...wrong)
  }

  /** Makes the new parts and the removals one version of the table. */
  private async commit(series: readonly LakeSeries[], gone: readonly string[]): Promise<DeltaLog | undefined> {
    const { folder, job, options, source } = this
    const parts = series.flatMap(({ parts }) => parts)
    const next = { options: job.options, source, parts, gone, now: options.now, beforeCommit: options.checkLock }
    const version = await commitVersion(folder.root, folder.log, next)
    return version === folder.log?.version ? folder.log : readLog(folder.root)
  }

  /**
   * Removes the parts of a run that has failed, except those that a version has: the log may have the version of this run although
   * the run failed. Never throws: what made the run fail says more, and parts that stay do no harm.
   */
  private async discardParts(): Promise<void> {
    const { root } = this.folder
    try {
      await removeUnnamed(
        root,
        this.files.map(({ path }) => relative(root, path)),
      )
    } catch {}
  }
}

/**
 * Writes the parts of the series that have changed beside their places, and adds them to `written`. Without a report of the
 * download, it reads the windows of the others too, as far as they are not counted in the manifest. Throws `incomplete` when a
 * window is missing or corrupt, and `no_candles`.
 */
async function writeChanged(
  states: readonly SeriesState[],
  job: LakeJob & { readonly report: DownloadReport | undefined },
  options: UpdateOptions,
  place: Pick<PartOptions, 'root' | 'partFile'>,
  written: Map<SeriesState, SeriesParts>,
): Promise<DownloadReport> {
  const { source, plan, report, rowFormat, windows } = job
  const { range } = plan
  const { partition, partial } = job.options
  const { signal, failOnGaps } = options
  const changed = states.filter(state => !state.isComplete)
  const { onEvent } = report ? {} : options
  const tally = new DownloadTally(source, plan, { forExport: true, partial, failOnGaps, onEvent })
  if (report === undefined) {
    const unchanged = states.filter(state => !changed.includes(state)).map(({ planned }) => planned.plan)
    await downloadSeries(source, unchanged, tally, { signal, findCounted: window => windows.counted(window) })
  }
  const parts: SeriesParts[] = []
  for (const state of changed) {
    const series = await SeriesParts.prepare(state, { ...place, partition, range })
    written.set(state, series)
    parts.push(series)
  }
  const count = changed.reduce((sum, { planned }) => sum + planned.windows.length, 0)
  const threads = source.info.isStored ? countThreads(parts.length, count, options.threads) : 1
  const metadata = { range: job.options.range, source: source.info.baseUrl ?? 'unknown' }
  const tasks = parts.map(({ task }) => task)
  const encoded = await writeTasks(
    source,
    tasks,
    { rowFormat, metadata, range, partial },
    {
      ...{ threads, signal, tally, isCached: true },
      open: ({ place }) => OutputFile.open(place as FilePlace),
      clear: index => parts[index].clear(),
    },
  )
  for (const [index, task] of encoded.entries()) parts[index].encoded = task
  // A window that was downloaded before may be missing now, when another process cleared the mirror.
  return report && !tally.hasFailed ? report : tally.report()
}
