import type { Plan } from '../download/plan.js'
import type { WindowSource } from '../download/sources/window-source.js'
import type { DownloadReport, TallyOptions } from '../download/tally.js'
import type { PlannedSeries } from '../export/export-series.js'
import type { RowFormat } from '../export/row-format.js'
import type { ExportReport } from '../export/write.js'
import type { LakeOptions } from './options.js'
import type { WindowFiles } from './parts/window-files.js'

/** What a lake is brought up to date with: series whose windows are all cached. */
export interface LakeJob {
  readonly source: WindowSource
  readonly plan: Plan
  /** Of the download. Undefined for a mirror alone, whose windows are checked while the parts are written. */
  readonly report: DownloadReport | undefined
  readonly options: LakeOptions
  readonly rowFormat: RowFormat
  readonly series: readonly PlannedSeries[]
  readonly windows: WindowFiles
}

export interface UpdateOptions extends Pick<TallyOptions, 'onEvent' | 'failOnGaps' | 'fingerprint'> {
  /** Threads that encode series at once, the main one included. */
  readonly threads?: number | undefined
  /** Write all parts again. */
  readonly force: boolean
  /** Whether the range moves with the present, so that each part may lose or gain rows. */
  readonly moves: boolean
  readonly prune?: boolean | undefined
  /** ms UTC. */
  readonly now: number
  /** Remove the parts of a Delta table that no version since this time (ms UTC) has. */
  readonly unusedSince?: number | undefined
  /** Throws `lake_busy` when this run does not have the lock of the lake any more. */
  readonly checkLock: () => void
  readonly signal?: AbortSignal | undefined
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

/** The result of `exportLake`: `files` are the parts that were written. */
export interface LakeReport extends ExportReport {
  readonly lake: LakeChanges
}
