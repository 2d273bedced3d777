import { dirname, join } from 'node:path'
import { completeUntil } from '../../download/complete-until.js'
import type { ExportRun } from '../../export/export-series.js'
import { CandleGrid } from '../../klines/resample/candle-grid.js'
import { windowSpan } from '../../klines/windows.js'
import type { LakeManifest, LakePart, LakeSeries } from '../manifest.js'
import type { ReadWindows, SeriesTask } from './encode-series.js'
import { fileHasContent, hasSameContent } from './file-version.js'
import type { WindowContent } from './window-content.js'
import type { WindowFiles } from './window-files.js'

/** A series of a request as it is by now, compared with what the manifest says about it. */
export class SeriesState {
  /** Undefined for those that the manifest lacks. */
  private readonly windows: readonly (WindowContent | undefined)[]
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
    this.grid = target ? [target.anchor ?? null, plan.listedFrom ?? null, ...knownEnd(run, files)] : []
    for (const part of old?.parts ?? []) {
      if (live?.has(part.path) === false || !fileHasContent(join(root, part.path), part)) continue
      this.present.set(dirname(part.path), part)
    }
    this.old = old?.source === source.interval && String(old.grid) === String(this.grid) ? old : undefined
    const same = this.windows.filter(window => window && hasSameContent(known.get(window.startDate), window))
    this.unchanged = new Set(this.old ? same.map(window => window?.startDate as string) : [])
  }

  /** The part in a folder, if it is on the disk as the manifest says. */
  presentPart(folder: string): LakePart | undefined {
    return this.present.get(folder)
  }

  /** What is to be encoded: a part that is present and whose windows are unchanged stays, unless the range `moves`. */
  task(moves: boolean): SeriesTask {
    const { run, unchanged } = this
    const parts = moves || this.old === undefined ? [] : [...this.present]
    const current = parts.filter(([, { windows }]) => windows.every(date => unchanged.has(date)))
    const unknown = run.windows.filter((_, index) => this.windows[index] === undefined)
    return {
      run,
      current: new Map(current.map(([folder, { windows }]) => [folder, windows])),
      unknown: new Set(unknown.map(({ startDate }) => startDate)),
    }
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

  /** What the manifest will say about the series. `read`: what this run has learned about its windows. */
  describe(parts: readonly LakePart[], read?: ReadWindows): LakeSeries {
    const { symbol, interval, source, windows: refs } = this.run
    const windows = refs.map(({ startDate }, index) => {
      const content = this.windows[index] ?? (read?.contents.get(startDate) as WindowContent)
      return { ...content, totals: read?.totals.get(startDate) ?? content.totals }
    })
    return { symbol, interval, source: source.interval, grid: this.grid, windows, parts }
  }
}

/**
 * Until when the source is known to have no more candles, ms UTC, but at most the end of the last resampled candle, which is
 * complete then. This can change while the content of all windows stays the same. Empty when it is not known.
 */
function knownEnd({ windows, source, target }: ExportRun, files: WindowFiles): number[] {
  const last = windows.findLast(window => files.hasCandles(window))
  if (last === undefined || target === undefined) return []
  const { endTime } = windowSpan(last)
  const until = completeUntil(files, windows)
  const grid = new CandleGrid(target, source.symbol)
  return until < endTime ? [] : [Math.min(until, grid.end(grid.start(endTime - 1)))]
}
