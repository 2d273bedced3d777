/** Marks are this part of the period apart, so that few are kept. */
const MARKS_PER_PERIOD = 30

/** The pace below which a client reads slowly. */
export interface PaceLimit {
  readonly bytesPerSecond: number
  /** How long it has to read slower than that, ms. */
  readonly periodMs: number
}

/** How much a client had taken after the server had waited for it for some time. */
interface Mark {
  readonly waitedMs: number
  readonly bytes: number
}

/**
 * How fast a client reads: what it takes in the time that the server waits for it. The time in which the server makes the next bytes
 * does not count, so a long export of few bytes is not slow.
 */
export class ReadPace {
  private bytes = 0
  private waitedMs = 0
  /** When the present wait began. */
  private waitingSince: number | undefined
  private marks: Mark[] = [{ waitedMs: 0, bytes: 0 }]

  /** `elapsed`: a clock that never goes back, ms. */
  constructor(
    private readonly limit: PaceLimit,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  /** Waits until the client has taken the bytes that were sent last. */
  async wait(taken: Promise<unknown>): Promise<void> {
    this.mark()
    this.waitingSince = this.elapsed()
    try {
      await taken
    } finally {
      this.waitedMs = this.totalWaitMs
      this.waitingSince = undefined
    }
  }

  /** Counts bytes that the client has taken. */
  add(bytes: number): void {
    this.bytes += bytes
  }

  /** Whether the client has read slower than the limit during the last period of waiting. */
  isSlow(): boolean {
    const { limit, bytes } = this
    const waitedMs = this.totalWaitMs
    const start = this.marks[this.findStart(waitedMs)]
    const lastMs = waitedMs - start.waitedMs
    return lastMs >= limit.periodMs && bytes - start.bytes < (limit.bytesPerSecond * lastMs) / 1000
  }

  private get totalWaitMs(): number {
    return this.waitedMs + (this.waitingSince === undefined ? 0 : this.elapsed() - this.waitingSince)
  }

  /** The last mark is that of the present wait; those before it are some time apart. */
  private mark(): void {
    const { bytes, waitedMs, limit } = this
    const marks = this.marks.slice(this.findStart(waitedMs))
    const before = marks.at(-2)
    if (before && waitedMs - before.waitedMs < limit.periodMs / MARKS_PER_PERIOD) marks.pop()
    this.marks = [...marks, { waitedMs, bytes }]
  }

  /** The index of the last mark that is a period old, or of the first one. */
  private findStart(waitedMs: number): number {
    return Math.max(
      0,
      this.marks.findLastIndex(mark => waitedMs - mark.waitedMs >= this.limit.periodMs),
    )
  }
}
