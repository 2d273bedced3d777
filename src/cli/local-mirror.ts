import { parseSelectionText } from '../download/selection.js'
import { MirrorSource } from '../download/sources/mirror-source.js'
import { openMirror, warnOnce } from '../download/sources/open-source.js'
import type { SourceOptions } from '../download/sources/source-options.js'
import { PUBLIC_BASE_URL, toSourceName } from '../http/base-url.js'
import { systemClock } from '../http/system-clock.js'
import type { Series } from '../klines/series.js'
import { quoteWord } from '../klines/text.js'
import type { Mirror } from '../mirror/mirror.js'
import type { TableFlags } from './flags/selection.js'
import type { LocationFlags } from './flags/service.js'

/** What the flags name, for a command that makes no request. */
function offlineOptions(flags: LocationFlags): SourceOptions {
  return { baseUrl: flags['base-url'], mirror: flags.mirror }
}

/** The windows of the mirror that the flags name. Throws `window_missing` where there is none, and `mirror_mismatch`. */
export function openNamedSource(flags: LocationFlags, warn?: (warning: string) => void): MirrorSource {
  const options = offlineOptions(flags)
  const { baseUrl } = options
  const source = new MirrorSource(openMirror(options), { baseUrl, now: systemClock.now(), warn: warnOnce(warn) })
  source.contents.prepare()
  return source
}

/** The mirror that the flags name; its folder may be missing. */
export function namedMirror(flags: LocationFlags): Mirror {
  return openMirror(offlineOptions(flags))
}

/**
 * The mirror that the flags name, also one without a window. Throws `window_missing` where there is none, and
 * `mirror_mismatch` when it belongs to another base address.
 */
export function requireMirror(flags: LocationFlags, warn?: (warning: string) => void): Mirror {
  const mirror = namedMirror(flags)
  // A mirror without a window yet has at least its `mirror.json`.
  if (mirror.upkeep.readMeta(warn) === undefined) openNamedSource(flags)
  const { baseUrl } = offlineOptions(flags)
  if (baseUrl !== undefined) mirror.upkeep.checkBase(toSourceName(baseUrl))
  return mirror
}

/** The series that arguments and flags select. Throws `window_missing` when one that is named is not cached. */
export async function cachedSeries(
  symbols: string[],
  flags: TableFlags,
  warn: (warning: string) => void,
): Promise<{ mirror: Mirror; series: Series[] }> {
  const source = openNamedSource(flags, warn)
  const selection = parseSelectionText(symbols, flags.interval)
  return { mirror: namedMirror(flags), series: await source.cachedSeries(selection) }
}

/** The flags for a download into a mirror. A base address that is not the default one names it, too. */
export function describeLocation({ baseUrl }: Mirror, { mirror }: Pick<LocationFlags, 'mirror'>): string {
  const source = baseUrl === undefined || baseUrl === PUBLIC_BASE_URL ? [] : [` --base-url ${quoteWord(baseUrl)}`]
  return [...source, ...(mirror === undefined ? [] : [` --mirror ${quoteWord(mirror)}`])].join('')
}
