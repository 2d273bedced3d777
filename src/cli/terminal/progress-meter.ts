import type { NetworkActivity } from '../../http/retrying-fetcher.js'

/** The rate is that of the last so many ms. */
const RATE_MS = 10_000
/** A rate over less time says nothing. */
const MIN_RATE_MS = 1_000

/** How far a run is. All times in ms. */
export interface ProgressSnapshot {
  /** Items that are done, and of all; undefined while the lists are fetched that tell how many there are. */
  readonly done: number
  readonly total: number | undefined
  /** The series of the latest item that is done. */
  readonly label: string
  /** Bytes received, and per second. */
  readonly bytes: number
  readonly bytesPerSecond: number
  /** Undefined as long as it cannot be estimated. */
  readonly leftMs: number | undefined
  readonly elapsedMs: number
  readonly requests: number
  /** Files that wait for a retry, and why the latest does. */
  readonly retrying: number
  readonly failure: string | undefined
  /** How long all requests have to wait, and why; 0 when they do not. */
  readonly pauseMs: number
  readonly pauseReason: string | undefined
}

/** Measures the progress of a run. `now`: a clock that never jumps, ms. */
export class ProgressMeter {
  private readonly startedMs: number
  private readonly samples: { readonly time: number; readonly done: number; readonly bytes: number }[] = []
  private done = 0
  private total: number | undefined
  private label = ''
  private network: NetworkActivity = {
    requests: 0,
    bytes: 0,
    retrying: 0,
    failure: undefined,
    pauseMs: 0,
    pauseReason: undefined,
  }
  private pausedUntil = 0

  constructor(private readonly now: () => number = () => performance.now()) {
    this.startedMs = now()
  }

  /** Items are done, the latest of them of `label`. */
  advance(done: number, total: number, label: string): void {
    // The time for the lists says nothing about the windows.
    if (this.total === undefined) this.addSample()
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
    return {
      done,
      total,
      label,
      bytes: network.bytes,
      bytesPerSecond: hasRate ? (1000 * (network.bytes - first.bytes)) / spanMs : 0,
      leftMs: rate > 0 && total !== undefined ? (total - done) / rate : undefined,
      elapsedMs: now - this.startedMs,
      requests: network.requests,
      retrying: network.retrying,
      failure: network.failure,
      pauseMs,
      pauseReason: pauseMs > 0 ? network.pauseReason : undefined,
    }
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
