import { joinNames } from '../download/errors.js'
import { KlinesError } from '../klines/errors.js'
import { type SeriesLabel, seriesName } from '../klines/series.js'
import { isCompatible, type LakeFolder } from './folder.js'
import { parsePartPath, seriesFolder } from './layout.js'
import type { LakeOptions } from './options.js'

/** The parts of a lake whose series are not in a set of names (`BTCUSDT 1h`), by name. */
export function findOthers({ parts }: LakeFolder, requested: ReadonlySet<string>): Map<string, string[]> {
  const others = new Map<string, string[]>()
  for (const path of parts) {
    const label = parsePartPath(path)
    const name = label && seriesName(label)
    if (name && !requested.has(name)) others.set(name, [...(others.get(name) ?? []), path])
  }
  return others
}

/** Throws `bad_output` for series that a run does not write, when they cannot stay beside those that it writes. */
export function checkOthers(
  folder: LakeFolder,
  others: ReadonlyMap<string, unknown>,
  source: string | undefined,
  options: LakeOptions,
): void {
  const reason = findConflict(folder, source, options)
  if (others.size === 0 || reason === undefined) return
  const message = `${folder.root} also has ${joinNames([...others.keys()])}, which this run does not write: ${reason}.`
  throw new KlinesError('bad_output', message, {
    suggestions: ['Request them too, or remove them with `prune: true`.'],
  })
}

/**
 * Throws `bad_output` for a new series whose folder differs from that of another series of the lake only in upper and lower case, such
 * as 15M (months) beside 15m: on the disks of macOS and Windows it is the same folder.
 */
export function checkFolderNames({ root, files }: LakeFolder, requested: readonly SeriesLabel[]): void {
  const labels = files.flatMap(path => parsePartPath(path) ?? [])
  const folders = new Set(labels.map(seriesFolder))
  const present = new Map(labels.map(label => [seriesFolder(label).toLowerCase(), label]))
  for (const series of requested) {
    const folder = seriesFolder(series)
    const other = present.get(folder.toLowerCase())
    if (other === undefined || folders.has(folder)) continue
    const message = `${root} has ${seriesName(other)}, and the folder ${folder} of this run is the same one on the disks of macOS and Windows.`
    throw new KlinesError('bad_output', message, { suggestions: ['Name another folder with `output`.'] })
  }
}

function findConflict(folder: LakeFolder, source: string | undefined, options: LakeOptions): string | undefined {
  const { manifest, log } = folder
  if (manifest === undefined) return 'without a manifest, nothing says which options their parts have'
  if (!isCompatible(folder, source, options)) return 'their parts would keep the old options'
  if (options.table === 'delta' && log === undefined) return 'the log is gone, and a new one would not name their parts'
  return undefined
}
