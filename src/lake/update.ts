import { dirname, join, relative } from 'node:path'
import type { WindowSource } from '../download/sources/window-source.js'
import type { ExportRun } from '../export/export-series.js'
import type { RowFormat } from '../export/row-format.js'
import type { WrittenFile } from '../export/target-writer.js'
import { noWholeCandle } from '../export/write.js'
import { seriesName } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { writeCheckpointIfDue } from './delta/checkpoint.js'
import { commitVersion, nextVersion } from './delta/commit.js'
import { type DeltaLog, readLog } from './delta/log.js'
import { vacuum } from './delta/vacuum.js'
import { checkOthers, findOthers, isCompatible, type LakeFolder } from './folder.js'
import { writeLakeFile } from './lake-file.js'
import { PART_FILE, parsePartPath, partVersion, versionedPartFile } from './layout.js'
import {
  encodeManifest,
  isSameManifest,
  type LakeManifest,
  type LakePart,
  type LakeSeries,
  MANIFEST_FILE,
} from './manifest.js'
import type { LakeOptions } from './options.js'
import { fileHasContent, hasSameContent } from './parts/file-version.js'
import { SeriesState } from './parts/series-state.js'
import { SeriesWriter } from './parts/series-writer.js'
import type { WindowFiles } from './parts/window-files.js'
import { lakeReadme, README_FILE } from './readme.js'
import { removeLeftovers, removeLog, removeParts } from './removal.js'
import { lakeViews, VIEWS_FILE } from './views.js'

/** What a lake is brought up to date with: series whose windows are all cached and valid. */
export interface LakeJob {
  readonly source: WindowSource
  readonly options: LakeOptions
  readonly rowFormat: RowFormat
  readonly range: TimeRange
  readonly runs: readonly ExportRun[]
  readonly windows: WindowFiles
}

export interface UpdateOptions {
  /** Write all parts again. */
  readonly force: boolean
  /** Whether the range moves with the present, so that each part may lose or gain rows. */
  readonly moves: boolean
  readonly prune?: boolean | undefined
  /** ms UTC. */
  readonly now: number
  /** Remove the parts of a Delta table that no version since this time (ms UTC) has. */
  readonly unusedSince?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly warn?: ((warning: string) => void) | undefined
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
  /** Of a Delta table: its newest version, whether this run made it, and how many files of old versions were removed. */
  readonly delta?: { readonly version: number; readonly isNew: boolean; readonly vacuumed: number }
}

/** Writes the parts that are not current, removes those that the lake must not have, and writes the manifest last. */
export class LakeUpdate {
  private readonly files: WrittenFile[] = []
  private readonly removed: string[] = []
  /** The manifest whose parts may stay. */
  private readonly present: LakeManifest | undefined
  private readonly isDelta: boolean
  private readonly others: ReadonlyMap<string, readonly string[]>
  private hasBegun = false
  /** The manifest on the disk. */
  private latest: LakeManifest | undefined

  /** Throws `bad_output` when parts of other series would have other options than the rest. */
  constructor(
    private readonly folder: LakeFolder,
    private readonly job: LakeJob,
    private readonly options: UpdateOptions,
  ) {
    this.latest = folder.manifest
    this.others = findOthers(folder, new Set(job.runs.map(seriesName)))
    const { force, prune } = options
    if (isCompatible(folder, job.source.baseUrl, job.options)) this.present = force ? undefined : folder.manifest
    else if (folder.manifest && !prune) checkOthers(folder.root, this.others)
    this.isDelta = job.options.table === 'delta'
    // A log says what the folder is, and the manifest of the lake before is right until the new one is complete.
    const keepsManifest = folder.manifest !== undefined && (this.isDelta || folder.log !== undefined)
    this.hasBegun = this.present !== undefined || keepsManifest
  }

  async run(): Promise<{ files: WrittenFile[]; lake: LakeChanges }> {
    const { folder, job, options, files, removed } = this
    removeLeftovers(folder.root)
    const series: LakeSeries[] = []
    let gone: string[]
    let log: DeltaLog | undefined
    try {
      for (const run of job.runs) series.push(await this.updateSeries(run))
      const paths = new Set(series.flatMap(({ parts }) => parts.map(({ path }) => path)))
      if (paths.size === 0) throw noWholeCandle(job.runs)
      const kept = options.prune ? [] : [...this.others.values()].flat()
      gone = folder.parts.filter(path => !paths.has(path) && !kept.includes(path))
      if (this.isDelta)
        log = await this.commit(
          series.flatMap(({ parts }) => parts),
          gone,
        )
    } catch (error) {
      // No version has them.
      if (this.isDelta)
        removeParts(
          folder.root,
          files.map(({ path }) => relative(folder.root, path)),
        )
      throw error
    }
    const all = [...series, ...this.keptSeries()]
    const delta = log ? await this.finishTable(log, all, gone) : await this.finishFiles(all, gone)
    const unchanged = series.flatMap(({ parts }) => parts).length - files.length
    const notRequested = options.prune ? [] : [...this.others.keys()].sort()
    const counts = { written: files.length, unchanged, removed, notRequested }
    return { files, lake: { folder: folder.root, ...counts, ...(delta && { delta }) } }
  }

  /** Makes the new parts and the removals one version of the table. */
  private async commit(parts: readonly LakePart[], gone: readonly string[]): Promise<DeltaLog | undefined> {
    const { folder, job, options } = this
    const next = { options: job.options, source: this.source, parts, gone, now: options.now }
    const version = await commitVersion(folder.root, folder.log, next)
    return version === folder.log?.version ? folder.log : readLog(folder.root)
  }

  /**
   * Completes a version that is in the log. Plain parts, from which the lake was turned into a table, go last: until then the old
   * views are right, and then the new ones. A glob over all files sees both for that time, as it does in every table.
   */
  private async finishTable(log: DeltaLog, series: readonly LakeSeries[], gone: readonly string[]) {
    const { folder, options, removed } = this
    const { root } = folder
    const folders = new Set(series.flatMap(({ parts }) => parts.map(({ path }) => dirname(path))))
    removed.push(...gone.filter(path => !folders.has(dirname(path))))
    await this.writeFiles(series, [...log.live.keys()].sort())
    const present = folder.log?.version ?? -1
    // A killed run has left parts of a version that was not made.
    removeParts(
      root,
      folder.files.filter(path => !log.live.has(path) && (partVersion(path) ?? Infinity) > present),
    )
    await writeCheckpointIfDue(root, log)
    const vacuumed = options.unusedSince === undefined ? 0 : vacuum(root, log, options.unusedSince).length
    return { version: log.version, isNew: log !== folder.log, vacuumed }
  }

  /**
   * Completes a lake of plain files. The log of a table that was turned into one goes after the new views, and its parts after the log:
   * readers of the log see its last version until it is gone, and no reader of the views or the manifest sees its parts.
   */
  private async finishFiles(series: readonly LakeSeries[], gone: readonly string[]): Promise<undefined> {
    const { folder } = this
    if (folder.log === undefined) this.remove(gone)
    await this.writeFiles(series)
    removeLog(folder.root)
    const folders = new Set(series.flatMap(({ parts }) => parts.map(({ path }) => dirname(path))))
    const versioned = folder.files.filter(path => partVersion(path) !== undefined)
    removeParts(folder.root, versioned)
    if (folder.log) this.removed.push(...gone.filter(path => !folders.has(dirname(path))))
  }

  private async updateSeries(run: ExportRun): Promise<LakeSeries> {
    const { folder, job, options } = this
    const { root } = folder
    const state = new SeriesState(root, run, this.present, job.windows, this.live)
    if (state.isComplete && !options.moves) return state.describe(state.parts)
    const { source, rowFormat, range } = job
    const metadata = { range: job.options.range, source: source.baseUrl ?? 'unknown' }
    const writer = new SeriesWriter(run, {
      partFile: this.isDelta ? versionedPartFile(nextVersion(folder.log)) : PART_FILE,
      ...{ root, rowFormat, metadata, source, range, signal: options.signal, options: job.options },
      presentPart: path => state.presentPart(path),
      findSame: (path, content) => {
        const part = state.presentPart(path)
        if (part && hasSameContent(part, content)) return part
        // The manifest may lack a version that a killed run has made.
        const live = options.force ? undefined : folder.log && folder.parts.find(other => dirname(other) === path)
        return live !== undefined && fileHasContent(join(root, live), content) ? { path: live } : undefined
      },
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

  /**
   * A new lake gets its manifest before its first part, so that the folder of a killed run is known to be a lake. A part of
   * another partitioning goes before the first one of the new kind: no reader must see a candle twice.
   */
  private async beforeCommit(run: ExportRun): Promise<void> {
    const { folder, job } = this
    if (!this.hasBegun) await this.writeManifest(this.keptSeries())
    this.hasBegun = true
    if (this.isDelta || folder.log) return
    const wrong = folder.parts.filter(path => {
      const label = parsePartPath(path)
      return label && seriesName(label) === seriesName(run) && label.partition !== job.options.partition
    })
    this.remove(wrong)
  }

  private remove(paths: readonly string[]): void {
    const present = paths.filter(path => !this.removed.includes(path))
    removeParts(this.folder.root, present)
    this.removed.push(...present)
  }

  /** What the manifest says about series that are not requested and stay. */
  private keptSeries(): LakeSeries[] {
    if (this.options.prune) return []
    return this.folder.manifest?.series.filter(series => this.others.has(seriesName(series))) ?? []
  }

  /** The parts of the table in the log. */
  private get live(): ReadonlySet<string> | undefined {
    return this.isDelta ? new Set(this.folder.log ? this.folder.parts : []) : undefined
  }

  private get source(): string | null {
    return this.job.source.baseUrl ?? this.present?.source ?? null
  }

  private async writeFiles(series: readonly LakeSeries[], live?: readonly string[]): Promise<void> {
    const { root } = this.folder
    await writeLakeFile(root, VIEWS_FILE, lakeViews(root, this.job.options, live))
    await writeLakeFile(root, README_FILE, lakeReadme(this.job.options))
    await this.writeManifest(series)
  }

  private async writeManifest(series: readonly LakeSeries[]): Promise<void> {
    const { folder, job } = this
    const sorted = series.toSorted((a, b) => (seriesName(a) < seriesName(b) ? -1 : 1))
    const manifest = { source: this.source, options: job.options, series: sorted }
    if (this.latest && isSameManifest(this.latest, manifest)) return
    await writeLakeFile(folder.root, MANIFEST_FILE, encodeManifest(manifest))
    this.latest = manifest
  }
}
