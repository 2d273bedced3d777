import type { WindowRef } from '../candles/series.js'
import type { NetworkActivity } from '../sources/fetcher.js'
import type { WindowDifference, WindowOutcome } from './outcome.js'

/** The windows of a run are known. */
export interface PlanEvent {
  readonly type: 'plan'
  /** Their number. */
  readonly windows: number
  /** Requests for those that are missing; 0 without limits. */
  readonly requests: number
  /** How long they take by the limits of the service, ms; 0 without limits. */
  readonly limitMs: number
}

/** A window is done. */
export interface ProgressEvent {
  readonly type: 'progress'
  /** Number of windows that are done, and of all. */
  readonly done: number
  readonly total: number
}

/** A window of a download or an export is done. */
export interface WindowEvent extends ProgressEvent {
  readonly window: WindowRef
  readonly status: WindowOutcome['status']
  /** Bytes received over the wire so far. */
  readonly bytes: number
  /** How long the windows that are left take by the limits of the service, ms; 0 without limits. */
  readonly limitMs: number
  /** How a fetched window differs from the cached one. */
  readonly change: WindowDifference | undefined
}

/** What a user should know; each text comes once. */
export interface WarningEvent {
  readonly type: 'warning'
  readonly message: string
}

/** A request has ended, is retried or has to wait. */
export interface NetworkEvent extends NetworkActivity {
  readonly type: 'network'
}

/** What happens in a run. `type` tells which event it is. */
export type KlinesEvent = PlanEvent | ProgressEvent | WindowEvent | WarningEvent | NetworkEvent

/** Who hears of a run. */
export interface EventOptions {
  /** Called with each event while the run goes on. What it throws ends the run. */
  readonly onEvent?: ((event: KlinesEvent) => void) | undefined
}
