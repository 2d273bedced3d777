import { toSourceName } from '../http/base-url.js'
import { KlinesError } from '../klines/errors.js'
import type { Lock } from './lock-file.js'

/** What the user says about where the candles of a lock are. */
interface NamedPlace {
  /** The file. */
  readonly lock: string
  readonly baseUrl?: string | undefined
  readonly mirror?: string | undefined
  /** Whether no request is sent. */
  readonly offline?: boolean | undefined
}

/**
 * The name of the source of a lock; undefined for that of a mirror. It needs no trust: what it sends has to match the fingerprints.
 * Throws `bad_option`.
 */
export function findLockSource({ source }: Lock, { lock, baseUrl, mirror, offline }: NamedPlace): string | undefined {
  const named = baseUrl === undefined ? undefined : toSourceName(baseUrl)
  if (source === null) {
    if (named !== undefined || (offline && mirror !== undefined)) return named
    throw new KlinesError('bad_option', `${lock} does not say where its candles come from.`, {
      suggestions: [offline ? 'Name the folder that has them with `mirror`.' : 'Name the address with `baseUrl`.'],
    })
  }
  if (named === undefined || named === source) return source
  throw new KlinesError('bad_option', `${lock} has candles of ${source}, and this run of ${named}.`, {
    suggestions: ['Leave `baseUrl` out: the lock names its source.'],
  })
}
