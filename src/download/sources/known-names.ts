import { HOUR_MS, MINUTE_MS } from '../../klines/intervals.js'
import type { SymbolName } from '../../klines/symbols.js'

/** After a failure the names are requested again, ms. */
const RETRY_MS = 5 * MINUTE_MS

/**
 * Decides whether a source has a symbol, whatever strangers ask for, with one request for its names an hour at most; after a
 * failed one the last names count, and the next request comes after five minutes.
 */
export class KnownNames {
  private names: Promise<ReadonlySet<SymbolName>> = Promise.resolve(new Set())
  private lastNames: ReadonlySet<SymbolName> | undefined
  /** Ms UTC. */
  private validUntil = 0

  constructor(
    /** Whether a symbol is known without a request. */
    private readonly isKnown: (symbol: SymbolName) => boolean,
    private readonly fetchNames: () => Promise<readonly SymbolName[]>,
    /** The present, ms UTC. */
    private readonly now: () => number,
  ) {}

  /** Throws what `fetchNames` throws. */
  async has(symbol: SymbolName): Promise<boolean> {
    if (this.isKnown(symbol)) return true
    if (this.now() >= this.validUntil) {
      this.validUntil = this.now() + HOUR_MS
      this.names = this.refresh()
    }
    return (await this.names).has(symbol)
  }

  private async refresh(): Promise<ReadonlySet<SymbolName>> {
    try {
      this.lastNames = new Set(await this.fetchNames())
      return this.lastNames
    } catch (error) {
      this.validUntil = this.now() + RETRY_MS
      if (this.lastNames) return this.lastNames
      throw error
    }
  }
}
