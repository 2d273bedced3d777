import { dirname } from 'node:path'
import { downloadSeries } from '../download/download.js'
import { type DownloadReport, DownloadTally } from '../download/tally.js'
import type { PlannedSeries } from '../export/export-series.js'
import { type FilePlace, OutputFile } from '../export/output/file.js'
import type { WrittenFile } from '../export/output-writer.js'
import { type ExportReport, noWholeCandle } from '../export/write.js'
import { writeTasks } from '../export/write-tasks.js'
import { reportFingerprints } from '../fingerprint/fingerprint.js'
import { seriesName } from '../klines/series.js'
import { countThreads } from '../threads/thread-count.js'
import type { LakeFolder } from './folder.js'
import { parsePartPath } from './layout.js'
import type { LakeSeries } from './manifest.js'
import { SeriesParts } from './parts/series-parts.js'
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
    const source = job.source.info.baseUrl ?? plan.kept?.source ?? null
    const { root, manifest } = folder
    this.rootFiles = new RootFiles(root, { source, options: job.options }, manifest, options.checkLock)
    this.hasBegun = plan.kept !== undefined
  }

  async run(): Promise<LakeReport> {
    const { folder, options, files, rootFiles } = this
    const { root } = folder
    options.checkLock()
    removeLeftovers(root)
    const { series, report } = await this.updateSeries()
    const paths = new Set(series.flatMap(({ parts }) => parts.map(({ path }) => path)))
    if (paths.size === 0) throw noWholeCandle(this.job.series)
    const kept = options.prune ? [] : [...this.plan.others.values()].flat()
    const gone = folder.parts.filter(path => !paths.has(path) && !kept.includes(path))
    options.checkLock()
    removeParts(root, gone)
    const all = [...series, ...this.plan.keptSeries()]
    await rootFiles.write(all)
    const unchanged = paths.size - files.length
    // Others were replaced.
    const folders = new Set(all.flatMap(({ parts }) => parts.map(({ path }) => dirname(path))))
    const removed = [...new Set([...this.removed, ...gone.filter(path => !folders.has(dirname(path)))])]
    const notRequested = options.prune ? [] : [...this.plan.others.keys()].sort()
    const fingerprints =
      options.fingerprint && reportFingerprints(series.flatMap(({ fingerprint }) => fingerprint ?? []))
    return {
      ...report,
      files,
      ...(fingerprints && { fingerprints }),
      lake: { folder: root, written: files.length, unchanged, removed, notRequested },
    }
  }

  /** Writes the parts that are not current beside their places, and puts them there when all windows were valid. */
  private async updateSeries(): Promise<{ series: LakeSeries[]; report: DownloadReport }> {
    const { folder, job, options } = this
    const states = job.series.map(planned => this.plan.stateOf(planned))
    const written = new Map<SeriesState, SeriesParts>()
    try {
      const report = await writeChanged(states, { ...job, report: this.report }, options, folder.root, written)
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
      beforeCommit: () => this.beforeCommit(state.planned),
      placed: file => this.files.push(file),
    })
    return state.describe(parts, written.encoded)
  }

  /**
   * A new lake gets its manifest before its first part, so that the folder of a killed run is known to be a lake. A part of
   * another partitioning goes before the first one of the new kind: no reader must see a candle twice. Last, a run that slept must
   * still have its lock.
   */
  private async beforeCommit(series: PlannedSeries): Promise<void> {
    const { folder, job, options } = this
    if (!this.hasBegun) await this.rootFiles.writeManifest(this.plan.keptSeries())
    this.hasBegun = true
    const wrong = folder.parts.filter(path => {
      const label = parsePartPath(path)
      return label && seriesName(label) === seriesName(series) && label.partition !== job.options.partition
    })
    options.checkLock()
    removeParts(folder.root, wrong)
    this.removed.push(...wrong)
    options.checkLock()
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
  root: string,
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
    const series = await SeriesParts.prepare(state, { root, partition, range })
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
