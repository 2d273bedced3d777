import { join } from 'node:path'
import { isExchange, SAMPLE, toSourceName } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'
import { quoteWord } from '../candles/text.js'
import { findUserFolder } from '../fs/folders.js'
import { joinNames } from './errors.js'
import { listFolder, readSource, statPath } from './file-store.js'
import { Mirror } from './mirror.js'
import { type SeriesStatus, seriesStatuses, sumOf } from './status.js'

export interface MirrorOptions {
  /**
   * Base address of a klines service, the part before `/api`; `binance` for the exchange itself, `binance:URL` for another host of its
   * API; `sample` for the bundled synthetic tree. Default: the public instance.
   */
  readonly baseUrl?: string | undefined
  /** Folder of the mirror. Default: a folder for each base address under the platform's cache folder. */
  readonly mirror?: string | undefined
}

/** What a mirror has. */
export interface MirrorStatus {
  /** Its folder. */
  readonly mirror: string
  /** Where the candles come from; undefined for a mirror that does not say it. */
  readonly baseUrl: string | undefined
  readonly windows: number
  /** Size of their files. */
  readonly cachedBytes: number
  readonly series: readonly SeriesStatus[]
}

export function openMirror({ mirror, baseUrl }: MirrorOptions, warn?: (text: string) => void): Mirror {
  if (mirror === '') throw new KlinesError('bad_option', '--mirror is empty. Expected the name of a folder.')
  const name = toSourceName(baseUrl)
  const opened = new Mirror(mirror ?? defaultMirrorRoot(name), warn)
  if (baseUrl !== undefined) opened.checkSource(name)
  if (mirror !== undefined && opened.source === undefined && statPath(mirror)?.isDirectory() === false)
    throw new KlinesError('mirror_unusable', `--mirror ${mirror} is a file. Expected the name of a folder.`)
  return opened
}

/**
 * What a mirror has. Throws `window_missing` when there is no mirror, and `mirror_mismatch` when it has another base address.
 *
 * @example
 * const { series, cachedBytes } = await mirrorStatus({ mirror: 'candles' })
 */
export async function mirrorStatus(
  options: MirrorOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<MirrorStatus> {
  const mirror = openMirror(options)
  if (mirror.exists || mirror.source !== undefined) return statusOf(mirror, options.signal)
  throw noMirror(mirror)
}

async function statusOf(mirror: Mirror, signal?: AbortSignal): Promise<MirrorStatus> {
  const series = await seriesStatuses(mirror, signal)
  const sum = (key: 'windows' | 'cachedBytes') => sumOf(series.map(one => one[key]))
  const { root, source } = mirror
  return { mirror: root, baseUrl: source, windows: sum('windows'), cachedBytes: sum('cachedBytes'), series }
}

/** What the mirrors of the user have beside the one at `root`. */
export async function otherMirrors(root: string, signal?: AbortSignal): Promise<MirrorStatus[]> {
  const others: MirrorStatus[] = []
  for (const other of listUserMirrors())
    if (other.root !== root) others.push(await statusOf(new Mirror(other.root), signal))
  return others
}

/** The error for what a mirror lacks: after `advice` it says how that is downloaded, and which other mirrors there are. */
export function nothingCached(message: string, mirror: Mirror, advice: readonly string[] = []): KlinesError {
  const { source = '' } = mirror
  // The exchange is never the default source, so a download from it names it.
  const address = isExchange(source) ? ` --base-url ${quoteWord(source)}` : ''
  const download = `Download candles first: klines download SYMBOL -i INTERVAL${address}, with the same --mirror.`
  const suggestions = [...advice, ...(mirror.exists ? [] : describeOtherMirrors(mirror.root)), download]
  return new KlinesError('window_missing', message, { suggestions })
}

export function noMirror(mirror: Mirror): KlinesError {
  return nothingCached(`There is no mirror at ${mirror.root}.`, mirror)
}

/**
 * The default folder for the mirror of a base address: one for each address under the platform's cache folder, such as
 * `~/.cache/klines/finom.github.io_static-klines`.
 */
export function defaultMirrorRoot(baseUrl: string): string {
  const folder = findUserFolder('cache')
  if (folder === undefined) {
    throw new KlinesError('bad_option', 'The default mirror lies in the home folder, and this user has none.', {
      suggestions: ['Set HOME to the path of a folder, or name a folder with --mirror.'],
    })
  }
  // The host `..` is valid in a URL.
  const name = baseUrl
    .replace(/^https:\/\//, '')
    .replace(/[^A-Za-z0-9.-]+/g, '_')
    .replace(/^\.+/, '_')
  return join(folder, name)
}

/** The mirrors in the user's cache folder, by name. A folder without a readable `mirror.json` is none. */
function listUserMirrors() {
  const folder = findUserFolder('cache') ?? ''
  return listFolder(folder).flatMap(name => {
    const root = join(folder, name)
    try {
      const baseUrl = readSource(root)
      return baseUrl === undefined ? [] : [{ root, baseUrl }]
    } catch {
      // Another user's.
      return []
    }
  })
}

/** The user's mirrors, and how one is chosen: for a run that finds none at `root`. */
export function describeOtherMirrors(root: string): string[] {
  const others = listUserMirrors().filter(mirror => mirror.root !== root && mirror.baseUrl !== SAMPLE)
  const names = others.filter(other => new Mirror(other.root).symbols().length > 0).map(({ baseUrl }) => baseUrl)
  const choice = 'add its --base-url, or run klines config set base-url ADDRESS'
  return names.length > 0 ? [`There is a mirror of ${joinNames(names)}: ${choice}`] : []
}
