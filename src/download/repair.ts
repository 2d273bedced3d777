import pMap from 'p-map'
import { FetchError } from '../http/fetch-error.js'
import { systemClock } from '../http/system-clock.js'
import { isKlinesError } from '../klines/errors.js'
import type { TreeEntry } from '../klines/paths.js'
import type { CorruptFile } from '../mirror/check.js'
import { DEFAULT_CONCURRENCY, openMirror, openSource } from './sources/open-source.js'
import { type ServiceSource, withoutName } from './sources/service-source.js'
import type { SourceOptions } from './sources/source-options.js'

/** What happened to the corrupt files of a mirror. */
export interface Repair {
  /** Paths that were downloaded again, or removed because they were temp files. */
  readonly repaired: readonly string[]
  readonly failed: readonly { readonly path: string; readonly reason: string }[]
}

/**
 * Downloads corrupt files of a mirror again, unconditionally, and removes temp files of dead processes. Throws what
 * `openSource` throws, `unreachable` and `rate_limited`.
 */
export async function repairMirror(
  options: SourceOptions,
  corrupt: readonly CorruptFile[],
  progress: (done: number, total: number) => void = () => {},
): Promise<Repair> {
  const { concurrency = DEFAULT_CONCURRENCY } = options
  let done = 0
  const source = await openSource(options)
  try {
    await source.prepare()
    openMirror(options).upkeep.removeTemps(options.now ?? systemClock.now())
    const outcomes = await pMap(
      corrupt,
      async ({ path, entry }) => {
        const reason = await fetchAgain(source, entry)
        progress(++done, corrupt.length)
        return { path, reason }
      },
      { concurrency },
    )
    const repaired = outcomes.filter(({ reason }) => reason === undefined).map(({ path }) => path)
    return {
      repaired,
      failed: outcomes.flatMap(({ path, reason }) => (reason === undefined ? [] : [{ path, reason }])),
    }
  } finally {
    await source.close()
  }
}

/** Why a file could not be downloaded, without its name; undefined when it was. */
async function fetchAgain(source: ServiceSource, entry: TreeEntry | undefined): Promise<string | undefined> {
  try {
    if (entry?.kind === 'window') await source.fetchWindow(entry.window, undefined)
    else if (entry?.kind === 'startDates') await source.contents.startDates(entry.interval)
    else if (entry?.kind === 'symbols') await source.contents.repairSymbols()
    return undefined
  } catch (error) {
    const reason = failureReason(error, source.service.fetcher.stopReason !== undefined)
    if (reason === undefined) throw error
    return entry?.kind === 'window' ? withoutName(reason, entry.window) : reason.replace(/\.$/, '')
  }
}

/** What is wrong with one file; undefined when the service itself is unreachable. */
function failureReason(error: unknown, hasStopped: boolean): string | undefined {
  if (error instanceof FetchError || isKlinesError(error, 'bad_list') || isKlinesError(error, 'incomplete')) {
    return error.message
  }
  // A service that lacks a list counts as unreachable elsewhere; here the list is one file of many.
  const isMissing = isKlinesError(error, 'unreachable') && error.cause instanceof FetchError && !error.cause.unreachable
  return isMissing && !hasStopped ? (error.cause as FetchError).message : undefined
}
