import { HOUR_MS } from '../../klines/intervals.js'
import type { SymbolName } from '../../klines/symbols.js'

/** Decides whether a source has a symbol, with one request for its names an hour at most, whatever strangers ask for. */
export class KnownNames {
  private names: Promise<ReadonlySet<SymbolName>> = Promise.resolve(new Set())
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
      this.names = this.fetchNames().then(names => new Set(names))
      this.names.catch(() => {
        this.validUntil = 0
      })
    }
    return (await this.names).has(symbol)
  }
}
