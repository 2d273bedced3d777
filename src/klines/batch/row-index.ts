import { Kernel } from '../kernel/kernel.js'
import type { Series } from '../series.js'
import type { WindowSpan } from '../windows.js'
import { KlineBatch } from './kline-batch.js'

/** Indexes what is copied at its exact size before anything else can run. */
let shared: Kernel | undefined

/**
 * The fast path of the codec: one pass over the wire form of the service, `[[0,"1.0",...],[...]]` without white space,
 * exponents or escapes. Undefined for everything else, legal or not: the slow path decides and names what is wrong.
 * With a kernel of one's own the batch's index lies in it, and is good until that is used again.
 */
export function indexRows(bytes: Uint8Array, series: Series, span: WindowSpan, own?: Kernel): KlineBatch | undefined {
  if (own) return own.index(bytes, series, span)
  shared ??= new Kernel()
  const batch = shared.index(bytes, series, span)
  if (!batch) return undefined
  return new KlineBatch(batch.series, bytes, batch.offsets.slice(), batch.numbers.slice(), batch.plain)
}
