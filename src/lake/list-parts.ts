import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describeErrno } from '../fs/errno.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { refuseDelta } from './folder.js'
import { type LakeManifest, MANIFEST_FILE, type ManifestRead, readManifest } from './manifest.js'

/** The parts of a lake as they are listed. */
interface ListedParts {
  /** Relative to the lake, sorted. */
  readonly paths: readonly string[]
  readonly manifest: LakeManifest
}

/** The parts of a lake, as its manifest lists them. Throws `bad_input` for a folder that is no lake. */
export function listParts(lake: string): ListedParts {
  const read = readLake(lake)
  if (read.state !== 'read') throw notALake(lake, read)
  const { manifest } = read
  return { paths: manifest.series.flatMap(({ parts }) => parts.map(({ path }) => path)), manifest }
}

/** The paths of parts on the disk. Throws `incomplete` when one is missing. */
export function locateParts(lake: string, paths: readonly string[]): string[] {
  const missing = paths.filter(path => !existsSync(join(lake, path)))
  if (missing.length === 0) return paths.map(path => join(lake, path))
  const count = missing.length === 1 ? '' : ` and ${missing.length - 1} more`
  throw new KlinesError('incomplete', `${missing[0]}${count} of the lake ${lake} is missing.`, {
    suggestions: ['Write it again with the klines export or klines download that made the lake.'],
    data: { missing },
  })
}

function readLake(lake: string): ManifestRead {
  try {
    refuseDelta(lake)
    return readManifest(lake)
  } catch (cause) {
    const message = isKlinesError(cause) ? cause.message : `Cannot read the lake ${lake}: ${describeErrno(cause)}.`
    const suggestions = ['Run the klines export or klines download that made the lake again: it says what to do.']
    throw new KlinesError('bad_input', message, { cause, suggestions })
  }
}

function notALake(lake: string, read: Exclude<ManifestRead, { state: 'read' }>): KlinesError {
  const reason = {
    missing: `it has no ${MANIFEST_FILE}`,
    newer: `its ${MANIFEST_FILE} is of a newer klines`,
    damaged: `its ${MANIFEST_FILE} is damaged${read.state === 'damaged' ? ` (${read.reason})` : ''}`,
  }[read.state]
  const advice = {
    missing: `Make one: klines export all -i all --layout hive -o ${lake}`,
    newer: 'Update klines.',
    damaged: 'Run the klines export or klines download that made the lake again.',
  }[read.state]
  return new KlinesError('bad_input', `${lake} is not a lake that can be read: ${reason}.`, { suggestions: [advice] })
}
