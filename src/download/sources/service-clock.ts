import { HOUR_MS } from '../../klines/intervals.js'
import type { Warn } from './window-source.js'

/** The clocks of a service and of this machine, each of which may be wrong. The earlier one decides which windows are final. */
export class ServiceClock {
  private latestMs: number
  private isNoted = false

  constructor(
    /** This machine's clock, ms UTC. */
    readonly now: () => number,
    private readonly warn: Warn,
    /** The present before the first response, ms UTC: this machine's clock, or -Infinity when only the service's counts. */
    start: number,
  ) {
    this.latestMs = start
  }

  /** The present: the start, or the service's clock when that is ahead, ms UTC. */
  get latest(): number {
    return this.latestMs
  }

  /** Takes the time of a response, and how far it is ahead of this machine's. A difference of more than an hour is noted once. */
  observe(servedMs: number, skewMs: number): void {
    this.latestMs = Math.max(this.latestMs, servedMs)
    if (this.isNoted || Math.abs(skewMs) <= HOUR_MS) return
    this.isNoted = true
    const now = this.now()
    const [service, machine] = [now + skewMs, now].map(time => new Date(time).toISOString().slice(0, 16))
    this.warn(
      `The clocks differ: the service says ${service}Z, this machine ${machine}Z. The earlier time decides which windows are final.`,
    )
  }

  /** Whether a file has a time that only a wrong clock can have given it, so that it may be neither final nor current. */
  isAhead(mtimeMs: number): boolean {
    return mtimeMs > this.latestMs + HOUR_MS
  }
}
