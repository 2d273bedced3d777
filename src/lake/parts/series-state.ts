import { dirname, join } from 'node:path'
import type { ExportRun } from '../../export/export-series.js'
import type { LakeManifest, LakePart, LakeSeries } from '../manifest.js'
import { fileHasContent, hasSameContent } from './file-version.js'
import type { PackedTotals, WindowContent } from './window-content.js'
import type { WindowFiles } from './window-files.js'

/** A series of a request as it is by now, compared with what the manifest says about it. */
export class SeriesState {
  readonly windows: readonly WindowContent[]
  private readonly grid: readonly (number | null)[]
  private readonly present = new Map<string, LakePart>()
  private readonly old: LakeSeries | undefined
  private readonly unchanged: ReadonlySet<string>

  /** `manifest`: of a lake whose parts may stay. `live`: the parts of its table, if a log names them. */
  constructor(
    root: string,
    readonly run: ExportRun,
    manifest: LakeManifest | undefined,
    files: WindowFiles,
    live?: ReadonlySet<string>,
  ) {
    const { symbol, interval, target, plan, source } = run
    const old = manifest?.series.find(entry => entry.symbol === symbol && entry.interval === interval)
    const known = new Map(old?.windows.map(window => [window.startDate, window]))
    this.windows = run.windows.map(window => files.content(window))
    this.grid = target ? [target.anchor ?? null, plan.listedFrom ?? null] : []
    for (const part of old?.parts ?? []) {
      if (live?.has(part.path) === false || !fileHasContent(join(root, part.path), part)) continue
      this.present.set(dirname(part.path), part)
    }
    this.old = old?.source === source.interval && String(old.grid) === String(this.grid) ? old : undefined
    const same = this.windows.filter(window => hasSameContent(known.get(window.startDate), window))
    this.unchanged = new Set(this.old ? same.map(({ startDate }) => startDate) : [])
  }

  /** The part in a folder, if it is on the disk as the manifest says. */
  presentPart(folder: string): LakePart | undefined {
    return this.present.get(folder)
  }

  /** Whether a part that is present was made of these windows as they are by now. */
  isCurrent(part: LakePart, windows: readonly string[]): boolean {
    return (
      this.old !== undefined &&
      String(part.windows) === String(windows) &&
      windows.every(date => this.unchanged.has(date))
    )
  }

  /** Whether nothing has changed since the manifest was written; the range of the request must not move. */
  get isComplete(): boolean {
    const { old, windows, unchanged } = this
    if (old?.windows.length !== windows.length || unchanged.size !== windows.length) return false
    return this.present.size === old.parts.length
  }

  /** The parts of the series as the manifest has them. */
  get parts(): readonly LakePart[] {
    return this.old?.parts ?? []
  }

  /** What the manifest will say about the series. `totals`: of windows that were counted in this run, by startDate. */
  describe(parts: readonly LakePart[], totals: ReadonlyMap<string, PackedTotals> = new Map()): LakeSeries {
    const { symbol, interval, source } = this.run
    const windows = this.windows.map(window => ({ ...window, totals: totals.get(window.startDate) ?? window.totals }))
    return { symbol, interval, source: source.interval, grid: this.grid, windows, parts }
  }
}
