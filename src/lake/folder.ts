import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { outputError } from '../export/output/errors.js'
import { isTempName } from '../export/output/temp.js'
import { KlinesError } from '../klines/errors.js'
import { LOCK_FILE } from './lake-lock.js'
import { findFiles, parsePartPath, SERIES_FOLDER } from './layout.js'
import { type LakeManifest, MANIFEST_FILE, readManifest } from './manifest.js'

/** What is in the folder of a lake. */
export interface LakeFolder {
  readonly root: string
  /** Undefined for a new lake, and for one whose manifest is damaged. */
  readonly manifest: LakeManifest | undefined
  /** The paths of the parts on the disk, relative to the root. */
  readonly parts: readonly string[]
}

/** The log of a Delta table. */
const LOG_FOLDER = '_delta_log'

/** Throws `bad_output` for a Delta table: its files are those of several versions. */
export function refuseDelta(root: string): void {
  if (!existsSync(join(root, LOG_FOLDER))) return
  throw new KlinesError(
    'bad_output',
    `${root} is a Delta table (it has ${LOG_FOLDER}), and klines keeps plain lakes.`,
    {
      suggestions: ['Name another folder with `output`.'],
    },
  )
}

/**
 * Reads the folder of a lake that is to be written; changes nothing. Throws `bad_output` for a file, for a folder that has something
 * in it and is no lake, for a Delta table, and for a lake of a newer version.
 */
export function openFolder(root: string, warn: (warning: string) => void = () => {}): LakeFolder {
  try {
    const stats = statSync(root, { throwIfNoEntry: false })
    if (stats && !stats.isDirectory()) throw notALake(root, 'is a file')
    refuseDelta(root)
    const names = stats ? readdirSync(root) : []
    const read = readManifest(root)
    if (read.state === 'newer') throw newer(root, read.schema)
    if (read.state === 'missing') {
      if (names.some(name => !isLeftover(name) && !hasOnlyLeftovers(root, name))) throw notALake(root, 'is not empty')
      return { root, manifest: undefined, parts: [] }
    }
    if (read.state === 'damaged') {
      warn(`${join(root, MANIFEST_FILE)} cannot be used: ${read.reason}. All parts are written again.`)
    }
    const files = findFiles(root)
    warnForeign(root, files, warn)
    const manifest = read.state === 'read' ? read.manifest : undefined
    return { root, manifest, parts: files.filter(parsePartPath).sort() }
  } catch (error) {
    throw outputError(error, root)
  }
}

/** Warns about Parquet files that no part can be: nothing is known of them, and they stay. */
function warnForeign(root: string, files: readonly string[], warn: (warning: string) => void): void {
  const foreign = files.filter(path => path.endsWith('.parquet') && !parsePartPath(path)).sort()
  if (foreign.length === 0) return
  const first = join(root, foreign[0])
  const query = 'but a query over **/*.parquet reads'
  warn(
    foreign.length === 1
      ? `${first} is not of this lake, ${query} it. Remove it, or put it elsewhere.`
      : `${first} and ${foreign.length - 1} more are not of this lake, ${query} them. Remove them, or put them elsewhere.`,
  )
}

/** Whether a run that was killed before its first part was in place may have left a file of this name. */
function isLeftover(name: string): boolean {
  return name === LOCK_FILE || isTempName(name)
}

/** Whether a folder of a series has nothing but temp files. */
function hasOnlyLeftovers(root: string, name: string): boolean {
  if (!SERIES_FOLDER.test(name) || !lstatSync(join(root, name)).isDirectory()) return false
  const entries = readdirSync(join(root, name), { recursive: true, withFileTypes: true })
  return entries.every(entry => entry.isDirectory() || isTempName(entry.name))
}

function notALake(root: string, what: string): KlinesError {
  return new KlinesError(
    'bad_output',
    `${root} ${what}. Expected a lake (a folder with ${MANIFEST_FILE}), or a new folder.`,
    {
      suggestions: ['Name another folder with `output`.'],
    },
  )
}

function newer(root: string, schema: number): KlinesError {
  return new KlinesError(
    'bad_output',
    `${root} was written by a newer version of klines (its manifest has schema ${schema}).`,
    {
      suggestions: ['Update klines, or name another folder with `output`.'],
    },
  )
}
