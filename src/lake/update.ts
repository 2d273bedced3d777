import type { WindowSource } from '../download/sources/window-source.js'
import type { ExportRun } from '../export/export-series.js'
import type { RowFormat } from '../export/row-format.js'
import type { WrittenFile } from '../export/target-writer.js'
import { noWholeCandle } from '../export/write.js'
import { seriesName } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { checkOthers, findOthers, isCompatible, type LakeFolder } from './folder.js'
import { writeLakeFile } from './lake-file.js'
import { parsePartPath } from './layout.js'
import { encodeManifest, isSameManifest, type LakeManifest, type LakeSeries, MANIFEST_FILE } from './manifest.js'
import type { LakeOptions } from './options.js'
import { SeriesState } from './parts/series-state.js'
import { SeriesWriter } from './parts/series-writer.js'
import type { WindowFiles } from './parts/window-files.js'
import { lakeReadme, README_FILE } from './readme.js'
import { removeLeftovers, removeParts } from './removal.js'
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
}

/** Writes the parts that are not current, removes those that the lake must not have, and writes the manifest last. */
export class LakeUpdate {
  private readonly files: WrittenFile[] = []
  private readonly removed: string[] = []
  /** The manifest whose parts may stay. */
  private readonly present: LakeManifest | undefined
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
    this.hasBegun = this.present !== undefined
  }

  async run(): Promise<{ files: WrittenFile[]; lake: LakeChanges }> {
    const { folder, job, options, files, removed } = this
    removeLeftovers(folder.root)
    const series: LakeSeries[] = []
    for (const run of job.runs) series.push(await this.updateSeries(run))
    const paths = new Set(series.flatMap(({ parts }) => parts.map(({ path }) => path)))
    if (paths.size === 0) throw noWholeCandle(job.runs)
    const others = [...this.others.values()].flat()
    this.remove(folder.parts.filter(path => !paths.has(path) && !others.includes(path)))
    if (options.prune) this.remove(others)
    await this.writeFiles([...series, ...this.keptSeries()])
    const unchanged = paths.size - files.length
    const notRequested = options.prune ? [] : [...this.others.keys()].sort()
    return { files, lake: { folder: folder.root, written: files.length, unchanged, removed, notRequested } }
  }

  private async updateSeries(run: ExportRun): Promise<LakeSeries> {
    const { folder, job, options } = this
    const { root } = folder
    const state = new SeriesState(root, run, this.present, job.windows)
    if (state.isComplete && !options.moves) return state.describe(state.parts)
    const { source, rowFormat, range } = job
    const metadata = { range: job.options.range, source: source.baseUrl ?? 'unknown' }
    const writer = new SeriesWriter(run, {
      ...{ root, rowFormat, metadata, source, range, signal: options.signal, options: job.options },
      presentPart: path => state.presentPart(path),
      isCurrent: (part, windows) => !options.moves && state.isCurrent(part, windows),
      beforeCommit: () => this.beforeCommit(run),
    })
    await writer.write()
    this.files.push(...writer.files)
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

  private async writeFiles(series: readonly LakeSeries[]): Promise<void> {
    const { root } = this.folder
    await writeLakeFile(root, VIEWS_FILE, lakeViews(root, this.job.options))
    await writeLakeFile(root, README_FILE, lakeReadme(this.job.options))
    await this.writeManifest(series)
  }

  private async writeManifest(series: readonly LakeSeries[]): Promise<void> {
    const { folder, job } = this
    const sorted = series.toSorted((a, b) => (seriesName(a) < seriesName(b) ? -1 : 1))
    const source = job.source.baseUrl ?? this.present?.source ?? null
    const manifest = { source, options: job.options, series: sorted }
    if (this.latest && isSameManifest(this.latest, manifest)) return
    await writeLakeFile(folder.root, MANIFEST_FILE, encodeManifest(manifest))
    this.latest = manifest
  }
}
