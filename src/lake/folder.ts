import { readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { joinNames } from '../download/errors.js'
import { outputError } from '../export/output/errors.js'
import { endedMaker, isTempName } from '../export/output/temp.js'
import { KlinesError } from '../klines/errors.js'
import { seriesName } from '../klines/series.js'
import { findFiles, PART_FILE, parsePartPath } from './layout.js'
import { LOCK_FILE } from './lock.js'
import { type LakeManifest, MANIFEST_FILE, readManifest } from './manifest.js'
import { findDifference, type LakeOptions } from './options.js'
import { README_FILE } from './readme.js'
import { VIEWS_FILE } from './views.js'

/** The files that a run writes by way of a temp file. */
const TEMP_TARGETS = [PART_FILE, MANIFEST_FILE, LOCK_FILE, VIEWS_FILE, README_FILE]

/** What is in the folder of a lake. */
export interface LakeFolder {
  readonly root: string
  /** Undefined for a new lake, and for one whose manifest is damaged. */
  readonly manifest: LakeManifest | undefined
  /** The paths of all parts on the disk, relative to the root. */
  readonly parts: readonly string[]
}

/**
 * Reads the folder of a lake; changes nothing. Throws `bad_output` for a file, for a folder that has something in it and is no
 * lake, and for a lake of a newer version.
 */
export function openFolder(root: string, warn: (warning: string) => void = () => {}): LakeFolder {
  try {
    const stats = statSync(root, { throwIfNoEntry: false })
    if (stats && !stats.isDirectory()) throw notALake(root, 'is a file')
    const names = stats ? readdirSync(root) : []
    const read = readManifest(root)
    if (read.state === 'missing') {
      // A run that was killed before it wrote anything leaves its lock.
      if (names.some(name => name !== LOCK_FILE && !isTempName(name))) throw notALake(root, 'is not empty')
      return { root, manifest: undefined, parts: [] }
    }
    if (read.state === 'newer') throw newer(root, read.schema)
    if (read.state === 'damaged')
      warn(`${join(root, MANIFEST_FILE)} cannot be used: ${read.reason}. All parts are written again.`)
    return {
      root,
      manifest: read.state === 'read' ? read.manifest : undefined,
      parts: findFiles(root).filter(parsePartPath).sort(),
    }
  } catch (error) {
    throw outputError(error, root)
  }
}

/** Throws `bad_output` when a lake has another source or other options than a request, unless `force` rewrites it. */
export function checkOptions(
  { root, manifest }: LakeFolder,
  source: string | undefined,
  options: LakeOptions,
  force: boolean,
): void {
  if (manifest === undefined || force) return
  if (manifest.source !== null && source !== undefined && manifest.source !== source) {
    throw otherOptions(`${root} has candles of ${manifest.source}, and this run of ${source}.`)
  }
  const difference = findDifference(manifest.options, options)
  if (difference === undefined) return
  throw otherOptions(`${root} was written with ${difference.lake}, and this run has ${difference.request}.`)
}

/** Whether the parts of a lake may stay: they have the source and the options of a request. */
export function isCompatible({ manifest }: LakeFolder, source: string | undefined, options: LakeOptions): boolean {
  if (manifest === undefined || findDifference(manifest.options, options)) return false
  return manifest.source === null || source === undefined || manifest.source === source
}

/** The parts on the disk whose series are not in a set of names (`BTCUSDT 1h`), by name. */
export function findOthers({ parts }: LakeFolder, requested: ReadonlySet<string>): Map<string, string[]> {
  const others = new Map<string, string[]>()
  for (const path of parts) {
    const label = parsePartPath(path)
    const name = label && seriesName(label)
    if (name && !requested.has(name)) others.set(name, [...(others.get(name) ?? []), path])
  }
  return others
}

/** Throws `bad_output` for series that would stay in a lake whose other parts get other options. */
export function checkOthers(root: string, others: ReadonlyMap<string, unknown>): void {
  if (others.size === 0) return
  const message = `${root} also has ${joinNames([...others.keys()])}, which this run does not write: their parts would keep the old options.`
  throw new KlinesError('bad_output', message, {
    suggestions: ['Request them too, or remove them with `prune: true`.'],
  })
}

/** Removes the temp files of processes that have ended. Never throws. */
export function removeLeftovers(root: string): void {
  for (const path of findFiles(root)) {
    const isLeftover = TEMP_TARGETS.some(target => endedMaker(basename(path), target) !== undefined)
    if (isLeftover) rmSync(join(root, path), { force: true })
  }
}

/** Removes parts, and the folders that are empty then. Throws `output_unwritable`. */
export function removeParts(root: string, paths: readonly string[]): void {
  for (const path of paths) {
    try {
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

function otherOptions(message: string): KlinesError {
  const suggestions = [
    'Use the options of the lake, name another folder with `output`, or rewrite all of it with `force: true`.',
  ]
  return new KlinesError('bad_output', message, { suggestions })
}
