import { Mirror } from '../../mirror/mirror.js'
import { HttpError } from '../http/error.js'
import { type PaceLimit, ReadPace } from './read-pace.js'

/** Exports at the same time. Each takes up to some 50 MB, and all share one thread. */
const EXPORTS_AT_ONCE = 4
/** Exports that wait for their turn; further ones are refused. */
const MAX_WAITING = 100
/** How often slow readers are looked for in the period after which they are slow. */
const CHECKS_PER_PERIOD = 30
const RETRY_AFTER_S = 30

/** What an export runs with. */
export interface ExportSlot {
  /** For this export alone: windows are read into its memory. */
  readonly mirror: Mirror
  /** To be told how fast the client reads. */
  readonly pace: ReadPace
  /** Aborts when the client leaves, and with a `SlowReaderError` when it reads slowly and others wait. */
  readonly signal: AbortSignal
}

/** The client of an export reads so slowly that others, who wait, get its place. */
export class SlowReaderError extends Error {
  constructor({ bytesPerSecond, periodMs }: PaceLimit) {
    const pace = `${bytesPerSecond / 1024} KB/s for ${periodMs / 1000} s`
    super(`its client read less than ${pace} while other exports waited`)
  }
}

/**
 * The exports that run at the same time; further ones wait for their turn, first come, first served. While any waits, those that
 * are read too slowly are ended: a few slow readers must not keep everybody else out.
 */
export class ExportSlots {
  private readonly free: Mirror[] = []
  private count = 0
  private readonly running = new Map<ReadPace, AbortController>()
  /** Those who wait, in the order in which they came. */
  private readonly waiting = new Set<(mirror: Mirror) => void>()
  private checks: NodeJS.Timeout | undefined

  constructor(
    private readonly mirror: Mirror,
    private readonly limit: PaceLimit,
  ) {}

  /**
   * Runs an export when it is its turn. `left` aborts when its client leaves. Throws `HttpError` 503 when too many wait already,
   * `SlowReaderError`, and the reason of `left`.
   */
  async run(left: AbortSignal, work: (slot: ExportSlot) => Promise<void>): Promise<void> {
    left.throwIfAborted()
    const mirror = this.takeFree() ?? (await this.wait(left))
    const pace = new ReadPace(this.limit)
    const slow = new AbortController()
    this.running.set(pace, slow)
    try {
      left.throwIfAborted()
      await work({ mirror, pace, signal: AbortSignal.any([left, slow.signal]) })
    } catch (error) {
      slow.signal.throwIfAborted()
      throw error
    } finally {
      this.running.delete(pace)
      this.release(mirror)
    }
  }

  /** A mirror that nobody uses, unless others wait for one. */
  private takeFree(): Mirror | undefined {
    const free = this.free.pop()
    if (free || this.count === EXPORTS_AT_ONCE) return free
    this.count++
    return new Mirror(this.mirror.root, this.mirror.baseUrl)
  }

  private wait(left: AbortSignal): Promise<Mirror> {
    if (this.waiting.size >= MAX_WAITING) throw tooMany()
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.waiting.delete(begin)
        this.watch()
        reject(left.reason)
      }
      const begin = (mirror: Mirror) => {
        left.removeEventListener('abort', leave)
        resolve(mirror)
      }
      this.waiting.add(begin)
      left.addEventListener('abort', leave, { once: true })
      this.watch()
    })
  }

  private release(mirror: Mirror): void {
    const [next] = this.waiting
    if (!next) {
      this.free.push(mirror)
      return
    }
    this.waiting.delete(next)
    this.watch()
    next(mirror)
  }

  /** Looks for slow readers as long as anybody waits. */
  private watch(): void {
    if (this.waiting.size > 0) {
      this.checks ??= setInterval(() => this.endSlow(), this.limit.periodMs / CHECKS_PER_PERIOD).unref()
      return
    }
    clearInterval(this.checks)
    this.checks = undefined
  }

  private endSlow(): void {
    for (const [pace, slow] of this.running) if (pace.isSlow()) slow.abort(new SlowReaderError(this.limit))
  }
}

function tooMany(): HttpError {
  const message = `This server runs ${EXPORTS_AT_ONCE} exports at once, and ${MAX_WAITING} more wait. Try again in ${RETRY_AFTER_S} s.`
  return new HttpError(503, message, { headers: { 'retry-after': String(RETRY_AFTER_S) } })
}
