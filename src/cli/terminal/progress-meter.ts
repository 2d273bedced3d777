import type { NetworkActivity } from '../../sources/fetcher.js'

/** The rate is that of the last so many ms. */
const RATE_MS = 10_000
/** A rate over less time says nothing. */
const MIN_RATE_MS = 1_000
/** A host counts requests by the minute: those of less than one are sent without a pause. */
const LIMIT_PERIOD_MS = 60_000

const IDLE = { requests: 0, bytes: 0, retrying: 0, failure: undefined, pauseMs: 0, pauseReason: undefined }

/** How far a run is. All times in ms; those of the network are the latest. */
export interface ProgressSnapshot extends NetworkActivity {
  /** Items that are done, and of all; undefined while the lists are fetched that tell how many there are. */
  readonly done: number
  readonly total: number | undefined
  /** The series of the latest item that is done. */
  readonly label: string
  readonly bytesPerSecond: number
  /** Undefined as long as it cannot be estimated. */
  readonly leftMs: number | undefined
  readonly elapsedMs: number
}

/** Measures the progress of a run. `now`: a clock that never jumps, ms. */
export class ProgressMeter {
  private readonly startedMs: number
  private readonly samples: { readonly time: number; readonly done: number; readonly bytes: number }[] = []
  private done = 0
  private total: number | undefined
  private label = ''
  /** When the first items were planned; undefined before. */
  private plannedMs: number | undefined
  private limitMs = 0
  private network: NetworkActivity = IDLE
  private pausedUntil = 0

  constructor(private readonly now: () => number = () => performance.now()) {
    this.startedMs = now()
  }

  /** Items are done, the latest of them of `label`. `limitMs`: how long the others take by the limits of the host; 0 without. */
  advance(done: number, total: number, label: string, limitMs = 0): void {
    // The time for the lists says nothing about the windows.
    if (this.total === undefined) this.plannedMs = this.addSample().time
    this.limitMs = limitMs
    this.done = done
    this.total = total
    this.label = label
  }

  setNetwork(network: NetworkActivity): void {
    this.network = network
    this.pausedUntil = this.now() + network.pauseMs
  }

  snapshot(): ProgressSnapshot {
    const { done, total, label, network } = this
    const first = this.addSample()
    const now = this.now()
    const pauseMs = Math.max(0, this.pausedUntil - now)
    const spanMs = now - first.time
    const hasRate = spanMs >= MIN_RATE_MS && total !== undefined
    const rate = hasRate ? (done - first.done) / spanMs : 0
    const bytesPerSecond = hasRate ? (1000 * (network.bytes - first.bytes)) / spanMs : 0
    const pause = { pauseMs, pauseReason: pauseMs > 0 ? network.pauseReason : undefined }
    const leftMs = this.estimateLeft(rate, now, pauseMs)
    return { ...network, ...pause, done, total, label, bytesPerSecond, leftMs, elapsedMs: now - this.startedMs }
  }

  /**
   * `rate`: items a ms lately. Between the pauses that a limit makes, it is much too high, and during them too low. Nothing ends
   * before the pause that is under way.
   */
  private estimateLeft(rate: number, now: number, pauseMs: number): number | undefined {
    const { done, total, limitMs, plannedMs = now } = this
    if (total === undefined) return undefined
    if (limitMs <= LIMIT_PERIOD_MS) return rate > 0 ? Math.max(pauseMs, (total - done) / rate) : undefined
    return Math.max(pauseMs, limitMs, done === 0 ? 0 : ((now - plannedMs) * (total - done)) / done)
  }

  /** Adds a sample of now, and returns the oldest one that counts. */
  private addSample() {
    const { samples, done, network } = this
    const time = this.now()
    samples.push({ time, done, bytes: network.bytes })
    // The oldest one that is kept is just older than the span, unless the run is shorter.
    while (samples.length > 2 && samples[1].time <= time - RATE_MS) samples.shift()
    return samples[0]
  }
}
