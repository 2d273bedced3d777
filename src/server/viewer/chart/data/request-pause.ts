/** How long a service that limits requests is left alone when it does not say it, ms. */
const DEFAULT_PAUSE_MS = 5_000
/** The longest time until the next try, whatever the service says. */
const MAX_PAUSE_MS = 86_400_000
const TICK_MS = 250

/**
 * How long a service wants no request, ms: with 429, and with 503 that says it in Retry-After, in seconds or until a date; `now` is ms
 * UTC. Undefined for any other answer.
 */
export function findPause(status: number, retryAfter: string | null, now: number): number | undefined {
  if (status !== 429 && (status !== 503 || retryAfter === null)) return undefined
  const text = retryAfter?.trim() ?? ''
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isNaN(ms) ? DEFAULT_PAUSE_MS : Math.max(1_000, Math.min(ms, MAX_PAUSE_MS))
}

/** A time in which the service wants no request. All requests wait for its end. */
export class RequestPause {
  /** Called with the seconds that are left, at least once for each, and with 0 at the end. */
  onTick: (seconds: number) => void = () => {}
  private untilTime = 0
  private isCounting = false
  private readonly waiting = new Set<() => void>()

  /** Begins a pause, or makes the one that is under way longer. */
  begin(ms: number): void {
    this.untilTime = Math.max(this.untilTime, Date.now() + ms)
    if (this.isCounting) return
    this.isCounting = true
    this.count()
  }

  /** Ends the pause now. */
  end(): void {
    this.untilTime = 0
  }

  private count(): void {
    const seconds = Math.max(0, Math.ceil((this.untilTime - Date.now()) / 1_000))
    this.onTick(seconds)
    if (seconds > 0) {
      setTimeout(() => this.count(), TICK_MS)
      return
    }
    this.isCounting = false
    for (const resume of this.waiting) resume()
    this.waiting.clear()
  }

  /** Resolves when there is no pause. Throws the reason of `signal` when that aborts. */
  async over(signal?: AbortSignal): Promise<void> {
    while (this.isCounting) {
      signal?.throwIfAborted()
      await new Promise<void>((resolve, reject) => {
        this.waiting.add(resolve)
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      })
    }
    signal?.throwIfAborted()
  }
}
