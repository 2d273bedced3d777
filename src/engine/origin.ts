import { KlinesError } from '../candles/errors.js'
import { type WindowRef, windowName, windowOf } from '../candles/series.js'
import type { CachedWindow, Mirror } from '../mirror/mirror.js'
import { reachesEnd } from '../mirror/window-state.js'
import { diffBatches } from '../rows/diff.js'
import { FetchError } from '../sources/fetch-error.js'
import { request } from './lists.js'
import type { Run } from './run.js'

/**
 * Compares one window of a folder that does not say its source with the same window of a source, before that becomes its source: candles
 * of two sources are never mixed. Throws `mirror_mismatch` and `unreachable`.
 */
export async function checkOrigin({ mirror, source, readOnly, signal, warn }: Run): Promise<void> {
  if (source === undefined || readOnly || mirror.source !== undefined) return
  const found = findWindow(mirror)
  if (found === undefined) return
  const { window, cached } = found
  const name = windowName(window)
  let fault = `${source.name} has no window ${name}`
  try {
    const fetched = await source.fetch(window, undefined, signal)
    if (fetched.bytes === undefined) throw new FetchError('invalid', 'status 304 for a request without a condition')
    const { added, changed, lost } = diffBatches(cached.batch, fetched.batch)
    const mayHaveMore = !reachesEnd(window, cached.batch.lastOpenTime)
    const isSame = changed.length === 0 && lost.length === 0 && (added.length === 0 || mayHaveMore)
    if (isSame)
      return warn(
        `${mirror.root} did not say where its candles come from; from now on it is a mirror of ${source.name}.`,
      )
    fault = `${name} differs from that of ${source.name}`
  } catch (error) {
    if (!(error instanceof FetchError && error.status === 404)) await request(source, name, Promise.reject(error))
  }
  throw new KlinesError('mirror_mismatch', `${mirror.root} does not say where its candles come from, and ${fault}.`, {
    suggestions: ['Name another folder with --mirror.'],
    data: { mirror: mirror.root, baseUrl: source.name, window },
  })
}

/** The last whole window with candles of any series, else any window with candles. */
function findWindow(mirror: Mirror): { window: WindowRef; cached: CachedWindow } | undefined {
  let open: { window: WindowRef; cached: CachedWindow } | undefined
  for (const series of mirror.series()) {
    for (const startDate of mirror.dates(series).reverse()) {
      const window = windowOf(series, startDate)
      const cached = mirror.read(window)
      if (cached.state !== 'cached' || cached.batch.length === 0) continue
      if (reachesEnd(window, cached.batch.lastOpenTime)) return { window, cached }
      open ??= { window, cached }
    }
  }
  return open
}
