import { FetchError } from '../../http/fetch-error.js'
import { unreachable } from '../../http/service-errors.js'
import type { WindowService } from '../../http/window-service.js'
import { diffBatches } from '../../klines/batch/diff.js'
import { KlinesError } from '../../klines/errors.js'
import { EXCHANGE_INTERVALS } from '../../klines/intervals.js'
import { type WindowRef, windowName } from '../../klines/series.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { CachedWindow } from '../../mirror/mirror-windows.js'
import { findRules } from '../../trees/find-rules.js'

/**
 * Compares one window of a mirror that does not say its source with the same window of a service: a final one if there is one,
 * else one that may have got more candles since. Throws `mirror_mismatch` when they differ or the service has no such window,
 * and `unreachable`. A mirror without candles can belong to any service.
 */
export async function checkOrigin(mirror: Mirror, service: WindowService, signal: AbortSignal): Promise<void> {
  const found = findWindow(mirror)
  if (!found) return
  const { window, cached } = found
  const { baseUrl } = service.fetcher
  const name = windowName(window)
  const { rendersAnswers, layout } = findRules(baseUrl)
  // The bytes of an exchange's window and of a published one are the same: only `mirror.json` tells whose they are.
  if (rendersAnswers) {
    const meta = JSON.stringify({ layout, baseUrl })
    const advice = `If it was one and its mirror.json was damaged, write this into that file: ${meta}`
    throw mismatch(mirror, baseUrl, window, `so it cannot become a mirror of ${baseUrl}`, [advice])
  }
  let fault = `it has no window ${name}`
  try {
    const served = await service.window(window, undefined, signal)
    if (served === 'unmodified') throw new FetchError('invalid', 'status 304 for an unconditional request')
    const { added, changed, lost } = diffBatches(cached.batch, served.value)
    if (changed.length === 0 && lost.length === 0 && (added.length === 0 || !cached.final)) return
    fault = `${name} differs`
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    if (error.status !== 404) throw unreachable(baseUrl, error, name)
  }
  throw mismatch(mirror, baseUrl, window, `and they are not those of ${baseUrl}: ${fault}`)
}

function mismatch(
  { root }: Mirror,
  baseUrl: string,
  window: WindowRef,
  fault: string,
  advice: readonly string[] = [],
): KlinesError {
  return new KlinesError('mirror_mismatch', `${root} does not say where its candles come from, ${fault}.`, {
    suggestions: ['Name another folder with `mirror`.', ...advice],
    data: { mirror: root, baseUrl, window },
  })
}

/** The latest final window with candles of any series, else any window with candles. */
function findWindow(mirror: Mirror): { window: WindowRef; cached: CachedWindow } | undefined {
  let open: { window: WindowRef; cached: CachedWindow } | undefined
  for (const symbol of mirror.contents.symbols()) {
    for (const interval of EXCHANGE_INTERVALS) {
      for (const startDate of mirror.contents.startDates({ symbol, interval }).reverse()) {
        const window = { symbol, interval, startDate }
        const cached = mirror.windows.read(window)
        if (cached.state !== 'cached' || cached.batch.length === 0) continue
        if (cached.final) return { window, cached }
        open ??= { window, cached }
      }
    }
  }
  return open
}
