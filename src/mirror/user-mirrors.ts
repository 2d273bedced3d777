import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isKlinesError, KlinesError } from '../candles/errors.js'
import { formatBytes, quoteWord } from '../candles/text.js'
import { findUserFolder } from '../fs/user-folder.js'
import { SAMPLE, toAddress } from '../sources/base-url.js'
import { readSource } from './meta.js'
import { Mirror } from './mirror.js'
import { cachedBytes, seriesStatuses, sumOf } from './status.js'

/** A mirror of the user. */
export interface UserMirror {
  /** Its folder. */
  readonly root: string
  /** The base address that it copies; undefined for a folder that does not say it. */
  readonly baseUrl: string | undefined
}

/** What a mirror has. */
export interface MirrorFigures {
  readonly symbols: number
  readonly series: number
  readonly windows: number
  readonly cachedBytes: number
  /** Open time of the newest candle, ms UTC; undefined without one. */
  readonly newest: number | undefined
}

/**
 * The default folder for the mirror of a base address: one for each address under the platform's cache folder, such as
 * `~/.cache/klines/finom.github.io_static-klines` (XDG_CACHE_HOME, ~/Library/Caches, %LOCALAPPDATA%). Where another address has that
 * folder, as of `/a/b` and `/a_b`, the name is the address with %-escapes. Throws `bad_option` for a user without a home folder.
 */
export function defaultMirrorRoot(baseUrl: string): string {
  const folder = findUserFolder('cache')
  if (folder === undefined) {
    throw new KlinesError('bad_option', 'The default mirror lies in the home folder, and this user has none.', {
      suggestions: ['Set HOME to the path of a folder, or name a folder with --mirror.'],
    })
  }
  // The host `..` is valid in a URL: a name of dots alone would leave the cache folder.
  const name = baseUrl
    .replace(/^https:\/\//, '')
    .replace(/[^A-Za-z0-9.-]+/g, '_')
    .replace(/^\.+/, '_')
  const plain = join(folder, name)
  const exact = join(folder, encodeURIComponent(baseUrl))
  if (sourceOf(exact) === baseUrl) return exact
  const found = sourceOf(plain)
  if (found !== undefined) return found === baseUrl ? plain : exact
  if (existsSync(plain)) return plain
  return listUserMirrors().find(mirror => mirror.baseUrl === baseUrl)?.root ?? plain
}

/** The mirrors in the user's cache folder, by name. A folder without a readable `mirror.json` is none. */
export function listUserMirrors(): UserMirror[] {
  const folder = findUserFolder('cache') ?? ''
  return listFolders(folder).flatMap(name => {
    const root = join(folder, name)
    const baseUrl = sourceOf(root)
    return baseUrl === undefined ? [] : [{ root, baseUrl }]
  })
}

/** What a mirror has: two windows of each series are read. */
export async function mirrorFigures(root: string, signal?: AbortSignal): Promise<MirrorFigures> {
  const series = await seriesStatuses(new Mirror(root), signal)
  const newest = series.flatMap(({ lastOpenTime }) => lastOpenTime ?? [])
  return {
    symbols: new Set(series.map(({ symbol }) => symbol)).size,
    series: series.length,
    windows: sumOf(series.map(({ windows }) => windows)),
    cachedBytes: sumOf(series.map(({ cachedBytes }) => cachedBytes)),
    newest: newest.length === 0 ? undefined : newest.reduce((a, b) => Math.max(a, b)),
  }
}

/** What the mirrors of the user have beside the one at `root`. */
export async function otherMirrors(root: string, signal?: AbortSignal): Promise<(UserMirror & MirrorFigures)[]> {
  const others: (UserMirror & MirrorFigures)[] = []
  for (const other of listUserMirrors()) {
    if (other.root !== root) others.push({ ...other, ...(await mirrorFigures(other.root, signal)) })
  }
  return others
}

/** A line about each of the user's mirrors, the largest three, and how it is chosen: for a run that finds none at `root`. */
export function describeOtherMirrors(root: string): string[] {
  return listUserMirrors()
    .filter(mirror => mirror.root !== root && toAddress(mirror.baseUrl ?? SAMPLE).startsWith('http'))
    .map(({ root, baseUrl }) => ({ baseUrl, bytes: cachedBytes(new Mirror(root)) }))
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, 3)
    .map(({ baseUrl, bytes }) => {
      const word = quoteWord(String(baseUrl))
      return `There is a mirror of ${baseUrl} (${formatBytes(bytes)}): add --base-url ${word}, or klines config set base-url ${word}`
    })
}

function listFolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.flatMap(entry => (entry.isDirectory() ? entry.name : [])).sort()
  } catch {
    return []
  }
}

/** The base address of a mirror; undefined where there is none, or it cannot be read. */
function sourceOf(root: string): string | undefined {
  try {
    return readSource(root)
  } catch (error) {
    // Whoever uses it says what is wrong.
    if (isKlinesError(error)) return undefined
    throw error
  }
}
