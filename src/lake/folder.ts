import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { KlinesError } from '../candles/errors.js'
import { outputError } from '../engine/output/errors.js'
import { isTempName } from '../engine/output/temp.js'
import { refuseLinks } from '../fs/links.js'
import { formatOfName } from '../options/formats.js'
import { OUTPUT_COLUMNS } from '../options/output-options.js'
import { findFiles, parsePartPath } from './layout.js'
import { LOCK_FOLDER } from './lock.js'
import { type LakeManifest, type LakePart, MANIFEST_FILE, readManifest } from './manifest.js'

/** What is in the folder of a lake. */
export interface LakeFolder {
  readonly root: string
  /** Undefined for a new lake, and for one whose manifest is damaged. */
  readonly manifest: LakeManifest | undefined
  /** The paths of the parts on the disk, relative to the root, sorted. */
  readonly parts: readonly string[]
}

/** How old a temp file is that a killed run has left, ms. */
const LEFT_MS = 3_600_000
/** The folder of a table's log, which klines does not keep. */
const DELTA_LOG = '_delta_log'

/** Checks the name of a lake's folder; that of a folder that is there may look like a file's. Throws `bad_output`. */
export function checkRoot(root: string): void {
  const fail = (message: string): never => {
    throw new KlinesError('bad_output', message, { suggestions: ['Name another folder with -o, such as lake.'] })
  }
  if (root === '') fail('The name of the lake is empty. Expected a folder.')
  if (root === '-') fail('A lake is a folder; it cannot go to stdout.')
  const format = formatOfName(root) ?? 'parquet'
  const { isFolder, isFile, path } = look(root)
  if (isFile && format === 'parquet') throw notALake(root, 'is a file')
  if (format !== 'parquet' && !isFolder)
    fail(`${root} is the name of a ${format} file, and a lake is a folder of Parquet files.`)
  const [placeholder] = /\{[^{}]*\}/.exec(root) ?? []
  if (placeholder !== undefined)
    fail(
      `${root} has the placeholder ${placeholder}, but the folders of a lake follow from its layout. Expected the name of its root alone.`,
    )
  const columns: readonly string[] = [...OUTPUT_COLUMNS, 'year', 'month']
  const column = path.split(sep).find(name => columns.includes(/^([^=]+)=/.exec(name)?.[1] ?? ''))
  if (column !== undefined)
    fail(`${root} lies in the folder ${column}: readers of the lake would take that name for a column of it.`)
}

function look(root: string) {
  try {
    const stats = statSync(root, { throwIfNoEntry: false })
    return { isFolder: stats?.isDirectory(), isFile: stats && !stats.isDirectory(), path: resolve(root) }
  } catch (error) {
    throw outputError(error, root)
  }
}

/**
 * Reads the folder of a lake that is to be written; changes nothing. Throws `bad_output` for a folder that has something in it
 * and is no lake, and for a Delta table.
 */
export function openFolder(root: string, warn: (warning: string) => void = () => {}): LakeFolder {
  try {
    const stats = statSync(root, { throwIfNoEntry: false })
    if (stats === undefined) return { root, manifest: undefined, parts: [] }
    const names = readdirSync(root)
    if (names.includes(DELTA_LOG)) throw notALake(root, `has a ${DELTA_LOG}, and klines keeps no Delta tables any more`)
    const read = readManifest(root)
    if (read === 'missing') {
      if (!names.every(name => isOfKilledRun(root, name))) throw notALake(root, 'is not empty')
      return { root, manifest: undefined, parts: [] }
    }
    const isUsable = !('fault' in read)
    if (!isUsable) warn(`${join(root, MANIFEST_FILE)} cannot be used: ${read.fault}. All parts are written again.`)
    const files = findFiles(root)
    warnForeign(root, files, warn)
    return { root, manifest: isUsable ? read : undefined, parts: files.filter(parsePartPath) }
  } catch (error) {
    throw outputError(error, root)
  }
}

/**
 * The manifest of a lake that is read. Throws `bad_input` for a folder that is no lake, and `incomplete` when a part is missing.
 */
export function readLake(lake: string): LakeManifest {
  const fail = (reason: string, advice: string): never => {
    throw new KlinesError('bad_input', `${lake} is not a lake that can be read: ${reason}.`, { suggestions: [advice] })
  }
  const again = 'Run the klines export or klines download that made the lake again.'
  if (existsSync(join(lake, DELTA_LOG))) fail(`it has a ${DELTA_LOG}, and klines reads no Delta tables any more`, again)
  const read = readManifest(lake)
  if (read === 'missing')
    return fail(`it has no ${MANIFEST_FILE}`, `Make one: klines export all -i all --layout hive -o ${lake}`)
  if ('fault' in read) return fail(`its ${MANIFEST_FILE} is damaged (${read.fault})`, again)
  const paths = read.series.flatMap(({ parts }) => parts.map(({ path }) => path))
  const missing = paths.filter(path => !lstatSync(join(lake, path), { throwIfNoEntry: false })?.isFile())
  if (missing.length === 0) return read
  const count = missing.length === 1 ? '' : ` and ${missing.length - 1} more`
  const message = `${missing[0]}${count} of the lake ${lake} is missing, or is a link or no file.`
  throw new KlinesError('incomplete', message, {
    suggestions: ['Write it again with the klines export or klines download that made the lake.'],
    data: { missing },
  })
}

/** Whether a run that was killed before its first part was in place may have left this. */
function isOfKilledRun(root: string, name: string): boolean {
  if (name === LOCK_FOLDER || isTempName(name)) return true
  return name.startsWith('symbol=') && findFiles(root, name, 1).every(path => isTempName(basename(path)))
}

/** Whether a part is on the disk as the manifest says. */
export function isOnDisk(root: string, { path, size, mtime }: LakePart): boolean {
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false })
  return stats?.isFile() === true && stats.size === size && stats.mtimeMs === mtime
}

/** Removes parts, and the folders that are empty then. Throws `linked_path` for one that a link leads to, and `output_unwritable`. */
export function removeParts(root: string, paths: readonly string[]): void {
  for (const path of paths) {
    try {
      refuseLinks(root, path)
      rmSync(join(root, path), { force: true })
    } catch (error) {
      throw outputError(error, join(root, path))
    }
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      try {
        rmdirSync(join(root, folder))
      } catch {
        // Something else is in it.
        break
      }
    }
  }
}

/** Removes the temp files that killed runs have left. */
export function removeLeftovers(root: string): void {
  for (const path of findFiles(root)) {
    if (!isTempName(basename(path))) continue
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false })
    if (stats && Date.now() - stats.mtimeMs > LEFT_MS) rmSync(join(root, path), { force: true })
  }
}

/** Warns about Parquet files that no part can be: nothing is known of them, and they stay. */
function warnForeign(root: string, files: readonly string[], warn: (warning: string) => void): void {
  const foreign = files.filter(path => path.endsWith('.parquet') && !parsePartPath(path))
  if (foreign.length === 0) return
  const first = join(root, foreign[0])
  const query = 'but a query over **/*.parquet reads'
  warn(
    foreign.length === 1
      ? `${first} is not of this lake, ${query} it. Remove it, or put it elsewhere.`
      : `${first} and ${foreign.length - 1} more are not of this lake, ${query} them. Remove them, or put them elsewhere.`,
  )
}

function notALake(root: string, what: string): KlinesError {
  const message = `${root} ${what}. Expected a lake (a folder with ${MANIFEST_FILE}), or a new folder.`
  return new KlinesError('bad_output', message, { suggestions: ['Name another folder with -o.'] })
}
