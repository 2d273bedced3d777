import { lstatSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { KlinesError } from '../candles/errors.js'
import { seriesName } from '../candles/series.js'
import { outputError } from '../engine/output-file.js'
import { type CandleFile, openCandleFile } from '../formats/read/candle-file.js'
import type { LastTimes } from '../formats/read/candle-rows.js'
import { isLeftover, isTempName } from '../fs/files.js'
import { checkInside } from '../fs/folders.js'
import { joinNames } from '../mirror/errors.js'
import { formatOfName, OUTPUT_COLUMNS } from '../options.js'
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

const OTHER_FOLDER = { suggestions: ['Name another folder with -o, such as lake.'] }

/**
 * Reads the folder of a lake that is to be written; changes nothing. Throws `bad_output` for a name that no lake can have, and for a
 * folder that has something in it and is no lake.
 */
export function openFolder(root: string, warn: (warning: string) => void = () => {}): LakeFolder {
  try {
    const stats = statSync(root, { throwIfNoEntry: false })
    checkName(root, stats?.isDirectory() === true)
    if (stats === undefined) return { root, manifest: undefined, parts: [] }
    if (!stats.isDirectory()) throw notALake(root, 'is a file')
    const read = readManifest(root)
    if (read === 'missing') {
      if (!readdirSync(root).every(name => isOfKilledRun(root, name))) throw notALake(root, 'is not empty')
      return { root, manifest: undefined, parts: [] }
    }
    const isUsable = !('fault' in read)
    if (!isUsable) warn(`${join(root, MANIFEST_FILE)} cannot be used: ${read.fault}. All parts are written again.`)
    const files = findFiles(root)
    const foreign = files.filter(path => path.endsWith('.parquet') && !parsePartPath(path))
    if (foreign.length > 0) {
      const names = joinNames(foreign.map(path => join(root, path)))
      const [is, it] = foreign.length === 1 ? ['is', 'it'] : ['are', 'them']
      warn(
        `${names} ${is} not of this lake, but a query over **/*.parquet reads ${it}. Remove ${it}, or put ${it} elsewhere.`,
      )
    }
    return { root, manifest: isUsable ? read : undefined, parts: files.filter(parsePartPath) }
  } catch (error) {
    throw outputError(error, root)
  }
}

/** Throws for the name of no lake; that of a folder that is there may look like a file's. */
function checkName(root: string, isFolder: boolean): void {
  const format = formatOfName(root) ?? 'parquet'
  const [placeholder] = /\{[^{}]*\}/.exec(root) ?? []
  const columns: readonly string[] = [...OUTPUT_COLUMNS, 'year', 'month']
  const path = resolve(root).split(sep)
  const column = path.find(name => columns.includes(/^([^=]+)=/.exec(name)?.[1] ?? ''))
  const faults = [
    [root === '', 'The name of the lake is empty. Expected a folder.'],
    [root === '-', 'A lake is a folder; it cannot go to stdout.'],
    [
      format !== 'parquet' && !isFolder,
      `${root} is the name of a ${format} file, and a lake is a folder of Parquet files.`,
    ],
    [
      placeholder !== undefined,
      `${root} has the placeholder ${placeholder}, but the folders of a lake follow from its layout. Expected the name of its root alone.`,
    ],
    [
      column !== undefined,
      `${root} lies in the folder ${column}: readers of the lake would take that name for a column of it.`,
    ],
  ] as const
  const fault = faults.find(([isSo]) => isSo)
  if (fault) throw new KlinesError('bad_output', fault[1], OTHER_FOLDER)
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

/** Whether a part is on the disk as the manifest says. */
export function isOnDisk(root: string, { path, size, mtime }: LakePart): boolean {
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false })
  return stats?.isFile() === true && stats.size === size && stats.mtimeMs === mtime
}

/** Removes parts, and the folders that are empty then. Throws `linked_path` for one that a link leads to, and `output_unwritable`. */
export function removeParts(root: string, paths: readonly string[]): void {
  for (const path of paths) {
    try {
      checkInside(root, path)
      rmSync(join(root, path), { force: true })
    } catch (error) {
      throw outputError(error, join(root, path))
    }
    try {
      for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) rmdirSync(join(root, folder))
    } catch {
      // Something else is in it.
    }
  }
}

/** Removes the temp files that killed runs have left. */
export function removeLeftovers(root: string): void {
  for (const path of findFiles(root).filter(path => isTempName(basename(path))))
    if (isLeftover(join(root, path))) rmSync(join(root, path), { force: true })
}

/** Opens a lake to read it. Throws `bad_input` for a folder that is no lake. */
export function openLakeCandles(lake: string): CandleFile {
  const read = readManifest(lake)
  if (read === 'missing' || 'fault' in read) {
    const fault =
      read === 'missing' ? `it has no ${MANIFEST_FILE}` : `its ${MANIFEST_FILE} cannot be used: ${read.fault}`
    throw new KlinesError('bad_input', `${lake} is not a lake that can be read: ${fault}.`, {
      suggestions: [`Write it (again): klines export SYMBOL... -i INTERVAL... --layout hive -o ${lake}`],
    })
  }
  const { options, series } = read
  const written = series.filter(({ parts }) => parts.length > 0)
  const named = written.flatMap(({ fingerprint }) => fingerprint ?? [])
  return {
    named: options.numbers === 'double' && named.length === written.length ? named : undefined,
    async *batches(only) {
      for (const { symbol, interval, parts } of series) {
        const label = { symbol, interval }
        const last: LastTimes = new Map()
        if (only && seriesName(only) !== seriesName(label)) continue
        for (const { path } of parts) yield* (await openCandleFile(join(lake, path), label, last)).batches()
      }
    },
  }
}
