import { dirname, join, relative } from 'node:path'
import type { ExportRun } from '../export/export-series.js'
import type { WrittenFile } from '../export/target-writer.js'
import { noWholeCandle } from '../export/write.js'
import { seriesName } from '../klines/series.js'
import { commitVersion, nextVersion } from './delta/commit.js'
import { type DeltaLog, readLog } from './delta/log.js'
import { type FinishedParts, findRemoved, finishPlain, finishTable } from './finish.js'
import { isCompatible, type LakeFolder } from './folder.js'
import type { LakeChanges, LakeJob, UpdateOptions } from './job.js'
import { PART_FILE, parsePartPath, versionedPartFile } from './layout.js'
import type { LakeManifest, LakeSeries } from './manifest.js'
import { checkOthers, findOthers } from './others.js'
import { type FileContent, fileHasContent, hasSameContent } from './parts/file-version.js'
import type { PresentPart } from './parts/part-writer.js'
import { SeriesState } from './parts/series-state.js'
import { SeriesWriter } from './parts/series-writer.js'
import { removeLeftovers, removeParts } from './removal.js'
import { RootFiles } from './root/root-files.js'

/** Writes the parts that are not current, removes those that the lake must not have, and writes the manifest last. */
export class LakeUpdate {
  private readonly files: WrittenFile[] = []
  /** Parts that were removed before the first one of another partitioning. */
  private readonly removed: string[] = []
  /** The manifest whose parts may stay. */
  private readonly present: LakeManifest | undefined
  private readonly others: ReadonlyMap<string, readonly string[]>
  private readonly isDelta: boolean
  /** The parts of the table in the log. */
  private readonly live: ReadonlySet<string> | undefined
  private readonly source: string | null
  private readonly rootFiles: RootFiles
  private hasBegun: boolean

  /** Throws `bad_output` for series that are not requested and cannot stay. */
  constructor(
    private readonly folder: LakeFolder,
    private readonly job: LakeJob,
    private readonly options: UpdateOptions,
  ) {
    const { root, manifest, log } = folder
    const { baseUrl } = job.source
    const { force, prune } = options
    this.others = findOthers(folder, new Set(job.runs.map(seriesName)))
    if (!prune) checkOthers(folder, this.others, baseUrl, job.options)
    if (isCompatible(folder, baseUrl, job.options) && !force) this.present = manifest
    this.isDelta = job.options.table === 'delta'
    this.live = this.isDelta ? new Set(log?.live.keys()) : undefined
    this.source = baseUrl ?? this.present?.source ?? null
    this.rootFiles = new RootFiles(root, { source: this.source, options: job.options }, manifest)
    // With a log, the manifest of the version before is right until the next one is complete.
    const hasManifest = manifest !== undefined && (this.isDelta || log !== undefined)
    this.hasBegun = this.present !== undefined || hasManifest
  }

  async run(): Promise<{ files: WrittenFile[]; lake: LakeChanges }> {
    const { folder, job, options, files, rootFiles } = this
    const { root } = folder
    removeLeftovers(root)
    let series: LakeSeries[]
    let gone: string[]
    let log: DeltaLog | undefined
    try {
      series = await this.updateAll()
      const paths = new Set(series.flatMap(({ parts }) => parts.map(({ path }) => path)))
      if (paths.size === 0) throw noWholeCandle(job.runs)
      const kept = options.prune ? [] : [...this.others.values()].flat()
      gone = folder.parts.filter(path => !paths.has(path) && !kept.includes(path))
      if (this.isDelta) log = await this.commit(series, gone)
    } catch (error) {
      // No version has them.
      if (this.isDelta)
        removeParts(
          root,
          files.map(({ path }) => relative(root, path)),
        )
      throw error
    }
    const finished: FinishedParts = { series: [...series, ...this.keptSeries()], gone }
    const vacuumed = log && (await finishTable(folder, log, finished, rootFiles, options.unusedSince))
    if (log === undefined) await finishPlain(folder, finished, rootFiles)
    const unchanged = series.flatMap(({ parts }) => parts).length - files.length
    const removed = [...new Set([...this.removed, ...findRemoved(finished)])]
    const notRequested = options.prune ? [] : [...this.others.keys()].sort()
    const delta = log && { version: log.version, isNew: log !== folder.log, vacuumed: vacuumed ?? 0 }
    const counts = { written: files.length, unchanged, removed, notRequested }
    return { files, lake: { folder: root, ...counts, ...(delta && { delta }) } }
  }

  private async updateAll(): Promise<LakeSeries[]> {
    const series: LakeSeries[] = []
    for (const run of this.job.runs) series.push(await this.updateSeries(run))
    return series
  }

  private async updateSeries(run: ExportRun): Promise<LakeSeries> {
    const { folder, job, options } = this
    const { root } = folder
    const state = new SeriesState(root, run, this.present, job.windows, this.live)
    if (state.isComplete && !options.moves) return state.describe(state.parts)
    const { source, rowFormat, range } = job
    const metadata = { range: job.options.range, source: source.baseUrl ?? 'unknown' }
    const partFile = this.isDelta ? versionedPartFile(nextVersion(folder.log)) : PART_FILE
    const writer = new SeriesWriter(run, {
      ...{ root, partFile, rowFormat, metadata, source, range, signal: options.signal, options: job.options },
      presentPart: path => state.presentPart(path),
      findSame: (path, content) => this.findSame(state, path, content),
      isCurrent: (part, windows) => !options.moves && state.isCurrent(part, windows),
      beforeCommit: () => this.beforeCommit(run),
    })
    try {
      await writer.write()
    } finally {
      this.files.push(...writer.files)
    }
    return state.describe(writer.parts, writer.totals)
  }

  /** The part in a folder, if it has a content. The manifest may lack a version of the log that a killed run has made. */
  private findSame(state: SeriesState, folder: string, content: FileContent): PresentPart | undefined {
    const part = state.presentPart(folder)
    if (part) return hasSameContent(part, content) ? part : undefined
    if (this.live === undefined || this.options.force) return undefined
    const path = [...this.live].find(path => dirname(path) === folder)
    return path !== undefined && fileHasContent(join(this.folder.root, path), content) ? { path } : undefined
  }

  /**
   * A new lake gets its manifest before its first part, so that the folder of a killed run is known to be a lake. A part of
   * another partitioning goes before the first one of the new kind: no reader must see a candle twice.
   */
  private async beforeCommit(run: ExportRun): Promise<void> {
    const { folder, job } = this
    if (!this.hasBegun) await this.rootFiles.writeManifest(this.keptSeries())
    this.hasBegun = true
    if (this.isDelta || folder.log) return
    const wrong = folder.parts.filter(path => {
      const label = parsePartPath(path)
      return label && seriesName(label) === seriesName(run) && label.partition !== job.options.partition
    })
    removeParts(folder.root, wrong)
    this.removed.push(...wrong)
  }

  /** Makes the new parts and the removals one version of the table. */
  private async commit(series: readonly LakeSeries[], gone: readonly string[]): Promise<DeltaLog | undefined> {
    const { folder, job, options, source } = this
    const parts = series.flatMap(({ parts }) => parts)
    const next = { options: job.options, source, parts, gone, now: options.now }
    const version = await commitVersion(folder.root, folder.log, next)
    return version === folder.log?.version ? folder.log : readLog(folder.root)
  }

  /** What the manifest says about series that are not requested and stay. */
  private keptSeries(): LakeSeries[] {
    if (this.options.prune) return []
    return this.folder.manifest?.series.filter(series => this.others.has(seriesName(series))) ?? []
  }
}
