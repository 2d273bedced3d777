import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { checkRange } from '../download/request-range.js'
import { type MadeSeries, parseMade } from '../export/made-series.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import { quoteWord } from '../klines/text.js'
import { META_FILE } from '../mirror/meta.js'
import { LOG_FOLDER } from './delta/actions.js'
import { ROOT_NAMES } from './entries.js'
import { openFolder } from './folder.js'
import { SERIES_FOLDERS } from './layout.js'
import { MANIFEST_FILE, readManifest } from './manifest.js'
import { parseLakeOptions, withLakeOptions } from './options.js'

/** A lake, and what it remembers beside its options. */
interface RememberedLake {
  readonly root: string
  /** Base address of the candles; undefined when it is not known. */
  readonly source: string | undefined
  readonly made: readonly MadeSeries[]
}

/** Reads what a lake says about itself; changes nothing. Throws `bad_output` for a folder that is none, or whose options cannot be used. */
export async function readLake(root: string): Promise<RememberedLake> {
  if (![MANIFEST_FILE, LOG_FOLDER].some(name => existsSync(join(root, name)))) throw notALake(root)
  const { manifest } = await openFolder(root)
  if (manifest === undefined || manifest.series.length === 0) {
    const read = readManifest(root)
    const message =
      read.state === 'damaged'
        ? `${root} cannot be updated: its ${MANIFEST_FILE} cannot be used (${read.reason}).`
        : `${root} cannot be updated: no ${MANIFEST_FILE} in it says which series a lake has.`
    const suggestions = ['Run the klines export or klines download that made the lake again.']
    throw new KlinesError('bad_output', message, { suggestions, data: { output: root } })
  }
  try {
    const request = withLakeOptions({}, manifest.options)
    parseLakeOptions(request, manifest.options)
    checkRange(request)
  } catch (error) {
    if (!isKlinesError(error)) throw error
    const again = 'Run the klines export or klines download that made the lake again, with `force: true`.'
    throw new KlinesError('bad_output', `${root} cannot be updated: ${error.message}`, {
      suggestions: [...error.suggestions, again],
      data: { output: root },
    })
  }
  const made = manifest.series.map(({ symbol, interval, source }) => parseMade(symbol, interval, source))
  return { root, source: manifest.source ?? undefined, made }
}

/** The lake that a file belongs to by its place; undefined for any other file. */
export function findLakeOf(file: string): string | undefined {
  let folder = dirname(file)
  while (SERIES_FOLDERS.test(basename(folder)) || basename(folder) === LOG_FOLDER) folder = dirname(folder)
  const belongs = folder !== dirname(file) || ROOT_NAMES.includes(basename(file))
  return belongs && existsSync(join(folder, MANIFEST_FILE)) ? folder : undefined
}

function notALake(root: string): KlinesError {
  const isMirror = existsSync(join(root, META_FILE))
  return new KlinesError('bad_output', `${root} is no lake: it has no ${MANIFEST_FILE}.`, {
    suggestions: isMirror ? [`It is a mirror: klines update --mirror ${quoteWord(root)}`] : [],
    data: { output: root },
  })
}
