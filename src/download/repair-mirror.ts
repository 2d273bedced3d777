import pMap from 'p-map'
import { isKlinesError } from '../klines/errors.js'
import type { TreeEntry } from '../klines/paths.js'
import type { UnsoundFile } from '../mirror/verify-mirror.js'
import { Failure } from '../service/failure.js'
import { DEFAULT_CONCURRENCY, openServiceSource, type SourceOptions } from './open-source.js'
import type { ServiceSource } from './service-source.js'

/** What became of the unsound files of a mirror. */
export interface Repair {
  /** Paths fetched anew, or removed where they were temp files. */
  readonly repaired: readonly string[]
  readonly failed: readonly { readonly path: string; readonly reason: string }[]
}

/**
 * Fetches unsound files of a mirror again, without asking whether they changed; temp files of dead processes go. Throws
 * what `openServiceSource` throws, `unreachable` and `stay_away`.
 */
export async function repairMirror(options: SourceOptions, unsound: readonly UnsoundFile[]): Promise<Repair> {
  const { concurrency = DEFAULT_CONCURRENCY } = options
  // Opening a source sweeps the temp files.
  const source = await openServiceSource(options)
  try {
    const outcomes = await pMap(
      unsound,
      async ({ path, entry }) => ({ path, reason: await fetchAgain(source, entry) }),
      {
        concurrency,
      },
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

/** Why a file could not be had; undefined when it was. */
async function fetchAgain(source: ServiceSource, entry: TreeEntry | undefined): Promise<string | undefined> {
  try {
    if (entry?.kind === 'window') await source.bring(entry.window, undefined)
    else if (entry?.kind === 'startDates') await source.startDates(entry.interval)
    else if (entry?.kind === 'symbols') await source.symbols()
    return undefined
  } catch (error) {
    if (error instanceof Failure || isKlinesError(error, 'bad_list')) return error.message
    throw error
  }
}
