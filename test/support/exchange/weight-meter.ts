import { banned, type PlainAnswer, tooManyRequests } from './exchange-answers.js'

const MINUTE = 60_000
/** Number of refused requests in a minute after the first one until the address is banned. */
const PATIENCE = 5

/** What the limits of the exchange are at a moment. */
export interface Limits {
  readonly weightLimit: number
  readonly otherWeight: number
  readonly banMs: number
  readonly sendsRetryAfter: boolean
}

/** Counts weight per minute of the exchange's clock, or per another time: 429 over the limit, and a ban for those who go on. */
export class WeightMeter {
  readonly perMinute = new Map<number, number>()
  private readonly refused = new Map<number, number>()
  private bannedUntil = 0

  constructor(private readonly windowMs = MINUTE) {}

  reset(): void {
    this.perMinute.clear()
    this.refused.clear()
    this.bannedUntil = 0
  }

  /** The weight used in the minute of `time`. */
  usedAt(time: number): number {
    return this.perMinute.get(Math.floor(time / this.windowMs)) ?? 0
  }

  /** Counts a request, refused or not; returns the refusal when it is over the limit. */
  add(weight: number, time: number, limits: Limits): PlainAnswer | undefined {
    const minute = Math.floor(time / this.windowMs)
    this.perMinute.set(minute, this.usedAt(time) + weight)
    const nextMinute = (minute + 1) * this.windowMs
    const isOver = this.usedAt(time) + limits.otherWeight > limits.weightLimit
    if (isOver) this.refused.set(minute, (this.refused.get(minute) ?? 0) + 1)
    if ((this.refused.get(minute) ?? 0) > PATIENCE + 1 && time >= this.bannedUntil)
      this.bannedUntil = time + limits.banMs
    const secondsUntil = (end: number) => (limits.sendsRetryAfter ? Math.ceil((end - time) / 1000) : undefined)
    if (time < this.bannedUntil) return banned(this.bannedUntil, secondsUntil(this.bannedUntil))
    return isOver ? tooManyRequests(secondsUntil(nextMinute), limits.weightLimit) : undefined
  }
}
