import { realMarket } from '../../support/exchange/real-market.js'
import { ExchangeServer } from '../../support/servers/exchange-server.js'
import { TreeServer } from '../../support/servers/tree-server.js'
import { SOAK_END, SOAK_PRESENT, SOAK_START, SOAK_SYMBOLS } from './soak-tree.js'

/** Which API a soak downloads through. */
export type SoakSource = 'static' | 'exchange'
export const SOAK_SOURCES: readonly SoakSource[] = ['static', 'exchange']

/** A server of the soak's tree. */
export interface SoakServer {
  /** Its clock, ms UTC. */
  readonly now: number
  /** The arguments of a download of everything that it has. */
  readonly args: readonly string[]
  /** The files of the requested windows, in order. */
  windows(): string[]
  /** Forgets all requests. */
  clear(): void
}

export function startSoakServer(source: SoakSource, tree: string): Promise<SoakServer> {
  return source === 'static' ? serveTree(tree) : serveExchange(tree)
}

async function serveTree(tree: string): Promise<SoakServer> {
  const server = await TreeServer.start(tree)
  server.date = SOAK_PRESENT
  const clear = () => {
    server.log.length = 0
  }
  return { now: SOAK_PRESENT, args: ['--base-url', server.url], windows: () => server.paths('windows'), clear }
}

/** The same candles behind an exchange whose clock is late enough for all of them to be final. */
async function serveExchange(tree: string): Promise<SoakServer> {
  const server = await ExchangeServer.start(realMarket(tree, SOAK_SYMBOLS))
  const now = Date.parse(SOAK_END) + 2 * 86_400_000
  server.now = now
  // Its clock stands still, and many runs share one of its minutes.
  server.sendsWeight = false
  server.weightLimit = Number.POSITIVE_INFINITY
  const windows = () =>
    server.log
      .filter(({ limit }) => limit === 1000)
      .map(({ symbol, interval, startTime = 0 }) => {
        const startDate = new Date(startTime).toISOString().slice(0, 10)
        return `api/klines/${interval}/${symbol}/${startDate}.json`
      })
  const args = ['--base-url', `binance:${server.url}`, '--from', SOAK_START, '--to', SOAK_END]
  return { now, args, windows, clear: () => server.reset() }
}
