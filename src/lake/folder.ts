import { lstatSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { KlinesError } from '../candles/errors.js'
import { type SeriesLabel, seriesName } from '../candles/series.js'
import { outputError } from '../engine/output-file.js'
import { type CandleFile, openCandleFile } from '../formats/read/candle-file.js'
import { isTempName } from '../fs/files.js'
import { checkInside, removeFolders } from '../fs/folders.js'
import { joinNames } from '../mirror/errors.js'
import { formatOfName, OUTPUT_COLUMNS } from '../options.js'
import { findFiles, partPath, seriesOfPart } from './layout.js'
import { LOCK_FOLDER } from './lock.js'
import { type LakePart, MANIFEST_FILE, readManifest } from './manifest.js'

const OTHER_FOLDER = { suggestions: ['Name another folder with -o, such as lake.'] }

/** What is in the folder of a lake that is to be written. Throws `bad_output` for a name that no lake can have, and for another folder. */
export function openFolder(root: string, warn: (warning: string) => void = () => {}) {
  try {
    /** Without a manifest: a new lake, and one whose manifest is damaged. */
    const none = { root, manifest: undefined, parts: [] as SeriesLabel[] }
    const stats = statSync(root, { throwIfNoEntry: false })
    const fault = nameFault(root, stats?.isDirectory() === true)
    if (fault) throw new KlinesError('bad_output', fault, OTHER_FOLDER)
    if (stats === undefined) return none
    if (!stats.isDirectory()) throw notALake(root, 'is a file')
    const manifest = readManifest(root)
    if (manifest === 'missing') {
      if (!readdirSync(root).every(name => isOfKilledRun(root, name))) throw notALake(root, 'is not empty')
      return none
    }
    if (manifest === 'damaged')
      warn(`${join(root, MANIFEST_FILE)} cannot be used: it is damaged. All parts are written again.`)
    const files = findFiles(root)
    const foreign = files.filter(path => path.endsWith('.parquet') && seriesOfPart(path).length === 0)
    if (foreign.length > 0) {
      const names = joinNames(foreign.map(path => join(root, path)))
      const [is, it] = foreign.length === 1 ? ['is', 'it'] : ['are', 'them']
      const what = `${names} ${is} not of this lake, but a query over **/*.parquet reads ${it}`
      warn(`${what}. Remove ${it}, or put ${it} elsewhere.`)
    }
    const parts = files.flatMap(seriesOfPart)
    return { root, manifest: manifest === 'damaged' ? undefined : manifest, parts }
  } catch (error) {
    throw outputError(error, root)
  }
}

/** Why no lake can have a name; that of a folder that is there may look like a file's. */
function nameFault(root: string, isFolder: boolean): string | undefined {
  if (root === '-') return 'A lake is a folder; it cannot go to stdout.'
  const format = formatOfName(root) ?? 'parquet'
  if (format !== 'parquet' && !isFolder)
    return `${root} is the name of a ${format} file, and a lake is a folder of Parquet files.`
  if (/\{[^{}]*\}/.test(root)) return `${root} has a placeholder, but the folders of a lake follow from its layout.`
  const columns: readonly string[] = OUTPUT_COLUMNS
  const column = resolve(root)
    .split(sep)
    .find(name => name.includes('=') && columns.includes(name.split('=', 1)[0]))
  return column && `${root} lies in the folder ${column}: readers of the lake would take that name for a column of it.`
}

function notALake(root: string, what: string): KlinesError {
  const message = `${root} ${what}. Expected a lake (a folder with ${MANIFEST_FILE}), or a new folder.`
  return new KlinesError('bad_output', message, OTHER_FOLDER)
}

/** Whether a run that was killed before its first part was in place may have left this. */
function isOfKilledRun(root: string, name: string): boolean {
  if (name === LOCK_FOLDER || isTempName(name)) return true
  return name.startsWith('symbol=') && findFiles(root, name).every(path => isTempName(basename(path)))
}

/** Whether the part of a series is as it was put in its place. */
export function isOnDisk(root: string, series: SeriesLabel, { size, mtime }: LakePart): boolean {
  const stats = lstatSync(join(root, partPath(series)), { throwIfNoEntry: false })
  return stats?.isFile() === true && stats.size === size && stats.mtimeMs === mtime
}

export function removePart(root: string, path: string): void {
  const file = join(root, path)
  try {
    checkInside(root, path)
    rmSync(file, { force: true })
  } catch (error) {
    throw outputError(error, file)
  }
  removeFolders([dirname(file), dirname(dirname(file))])
}

/** Opens a lake to read it. Throws `bad_input` for a folder that is no lake. */
export function openLakeCandles(lake: string): CandleFile {
  const manifest = readManifest(lake)
  if (manifest === 'missing' || manifest === 'damaged') {
    const advice = 'Name files one by one, or a lake: klines export ... --layout hive -o DIR writes one.'
    const fault = manifest === 'missing' ? `it has no ${MANIFEST_FILE}` : `its ${MANIFEST_FILE} is damaged`
    const message = `${lake} is not a lake that can be read: ${fault}.`
    throw new KlinesError('bad_input', message, { suggestions: [advice] })
  }
  const { options, series } = manifest
  const written = series.filter(({ part }) => part)
  const named = written.flatMap(({ fingerprint }) => fingerprint ?? [])
  return {
    named: options.numbers === 'double' && named.length === written.length ? named : undefined,
    async *batches(only) {
      for (const { symbol, interval } of written) {
        const label = { symbol, interval }
        if (only && seriesName(only) !== seriesName(label)) continue
        yield* (await openCandleFile(join(lake, partPath(label)), label)).batches()
      }
    },
  }
}
