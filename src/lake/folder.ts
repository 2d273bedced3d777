import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { outputError } from '../export/output/errors.js'
import { isTempName } from '../export/output/temp.js'
import { KlinesError } from '../klines/errors.js'
import type { DeltaLog } from './delta/actions.js'
import { type DeltaTable, readTable } from './delta/log.js'
import { checkEntries } from './entries.js'
import { findFiles, parsePartPath, partVersion, SERIES_FOLDER } from './layout.js'
import { LOCK_FILE } from './lock/lock-file.js'
import { type LakeManifest, MANIFEST_FILE, type ManifestRead, readManifest } from './manifest.js'
import { findDifference } from './options.js'

/** What is in the folder of a lake. */
export interface LakeFolder {
  readonly root: string
  /** Undefined for a new lake, and for one whose manifest is damaged. */
  readonly manifest: LakeManifest | undefined
  /** The paths of the parts of the lake, relative to the root: those of the newest version in its log, or those on the disk. */
  readonly parts: readonly string[]
  /** The paths of all parts on the disk: also of older versions, and what a run that was killed has left. */
  readonly files: readonly string[]
  /** The log of a Delta table. Where the manifest says something else, the log is right. */
  readonly log: DeltaLog | undefined
}

/**
 * Reads the folder of a lake that is to be written; changes nothing. Throws `bad_output` for a file, for a folder that has something
 * in it and is no lake, for a lake of a newer version, or whose log cannot be used, and what `checkEntries` throws.
 */
export async function openFolder(root: string, warn: (warning: string) => void = () => {}): Promise<LakeFolder> {
  try {
    const stats = statSync(root, { throwIfNoEntry: false })
    if (stats && !stats.isDirectory()) throw notALake(root, 'is a file')
    checkEntries(root)
    const names = stats ? readdirSync(root) : []
    const read = readManifest(root)
    if (read.state === 'newer') throw newer(root, read.schema)
    const table = await readTable(root, isPlain(read))
    if (read.state === 'missing' && table === undefined) {
      if (names.some(name => !isLeftover(name) && !hasOnlyLeftovers(root, name))) throw notALake(root, 'is not empty')
      return { root, manifest: undefined, parts: [], files: [], log: undefined }
    }
    if (read.state === 'damaged') {
      const rest = table ? 'The parts are compared with new ones.' : 'All parts are written again.'
      warn(`${join(root, MANIFEST_FILE)} cannot be used: ${read.reason}. ${rest}`)
    }
    const found = findFiles(root)
    const files = found.filter(parsePartPath).sort()
    const log = table?.log
    if (log === undefined) warnForeign(root, found, warn)
    const manifest = findManifest(read, table)
    return { root, manifest, parts: findParts(manifest, files, log), files, log }
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

/** Whether the manifest says that a lake has no log. */
export function isPlain(read: ManifestRead): boolean {
  return read.state === 'read' && read.manifest.options.table === undefined
}

/** The manifest, as far as it says the same as the log. */
function findManifest(read: ManifestRead, table: DeltaTable | undefined): LakeManifest | undefined {
  const manifest = read.state === 'read' ? read.manifest : undefined
  if (table === undefined) return manifest
  const { source, options } = table
  if (manifest && manifest.source === source && !findDifference(manifest.options, options)) return manifest
  return { source, options, series: [] }
}

/** The parts of a lake. Those of a table whose log is gone are known from its manifest. */
function findParts(manifest: LakeManifest | undefined, files: readonly string[], log: DeltaLog | undefined): string[] {
  if (log) return [...log.live.keys()].sort()
  if (manifest?.options.table === undefined) return files.filter(path => partVersion(path) === undefined)
  return manifest.series.flatMap(({ parts }) => parts.map(({ path }) => path)).sort()
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
