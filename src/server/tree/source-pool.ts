import type { ServiceSource } from '../../download/sources/service-source.js'

/**
 * The source of a service: a new one when the last has stopped, which is permanent for all but a refusal of the exchange. Sources
 * that were replaced are closed once no work uses them any more.
 */
export class SourcePool {
  private current: Promise<ServiceSource> | undefined
  /** How much work uses each source that is not closed. */
  private readonly uses = new Map<ServiceSource, number>()
  private readonly replaced = new Set<ServiceSource>()
  private readonly closing = new Set<Promise<unknown>>()

  constructor(private readonly open: () => Promise<ServiceSource>) {}

  /** Whether refusals of the source end by themselves; undefined before one was opened. */
  async isRefusedForATime(): Promise<boolean | undefined> {
    return (await this.current?.catch(() => undefined))?.rules.refusesForATime
  }

  /** Runs work with the current source. Throws what `open` and the work throw. */
  async use<T>(work: (source: ServiceSource) => Promise<T>): Promise<T> {
    const source = await this.take()
    try {
      return await work(source)
    } finally {
      this.release(source)
    }
  }

  /** Closes all sources, whatever uses them. */
  async close(): Promise<void> {
    const source = await this.current?.catch(() => undefined)
    for (const unused of this.replaced) this.retire(unused)
    await Promise.all([source?.close(), ...this.closing])
  }

  private async take(): Promise<ServiceSource> {
    for (;;) {
      this.current ??= this.openNext()
      const taken = this.current
      const source = await taken
      // Others may have replaced it meanwhile, and closed it.
      if (this.current !== taken) continue
      const uses = this.uses.get(source) ?? 0
      if (!hasStopped(source)) {
        this.uses.set(source, uses + 1)
        return source
      }
      this.current = undefined
      this.replaced.add(source)
      if (uses === 0) this.retire(source)
    }
  }

  private openNext(): Promise<ServiceSource> {
    const opening = this.open()
    opening.catch(() => {
      this.current = undefined
    })
    return opening
  }

  private release(source: ServiceSource): void {
    const uses = (this.uses.get(source) ?? 0) - 1
    this.uses.set(source, uses)
    if (uses === 0 && this.replaced.has(source)) this.retire(source)
  }

  /** Closes a source that was replaced. Its failure would concern nobody. */
  private retire(source: ServiceSource): void {
    this.replaced.delete(source)
    this.uses.delete(source)
    const closed = source
      .close()
      .catch(() => {})
      .finally(() => this.closing.delete(closed))
    this.closing.add(closed)
  }
}

/** A source whose refusals end by themselves is kept, because it knows its names; any other starts afresh. */
function hasStopped({ service, rules }: ServiceSource): boolean {
  const stop = service.fetcher.stopReason
  return stop !== undefined && !(rules.refusesForATime && stop.cause === undefined)
}
