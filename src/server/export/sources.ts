import { noMinutes } from '../../download/errors.js'
import type { Warn } from '../../download/sources/window-source.js'
import type { Series } from '../../klines/series.js'
import { unknownSymbols } from '../../klines/symbols.js'
import type { Mirror } from '../../mirror/mirror.js'
import { HttpError } from '../http/error.js'
import { listSymbols, type Tree } from '../tree/tree.js'
import type { Upstream } from '../tree/upstream.js'
import { ServedSource } from './served-source.js'
import { UpstreamFetches } from './upstream-fetches.js'

/**
 * The source of a series' windows: the mirror, with the service behind it if there is one. Throws `unknown_symbol`, and
 * `HttpError` for 1m, 3m or 5m of a server without them, and when only the service knows the symbol and does not answer.
 */
export async function openServedSource(
  tree: Tree,
  mirror: Mirror,
  { symbol, interval }: Series,
  warn: Warn,
): Promise<ServedSource> {
  const { upstream } = tree
  if (tree.lacksInterval(interval)) throw new HttpError(404, noMinutes(interval, 'This server').message)
  if (!mirror.contents.hasSymbol(symbol) && !(await upstream?.hasSymbol(symbol))) {
    throw unknownSymbols([symbol], listSymbols(mirror), 'this server')
  }
  if (!upstream) return new ServedSource(mirror, tree, undefined, { now: tree.now(), warn })
  const { now, warning } = await findPresent(tree, upstream)
  return new ServedSource(mirror, tree, new UpstreamFetches(mirror, tree, warning), { now, warn })
}

/** The present by the clock that decides which windows have started, ms UTC: this machine's when the exchange does not answer. */
async function findPresent({ mirror, now }: Tree, upstream: Upstream): Promise<{ now: number; warning?: HttpError }> {
  if (!mirror.rules.rendersAnswers) return { now: now() }
  try {
    return { now: await upstream.currentTime() }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return { now: now(), warning: error }
  }
}
