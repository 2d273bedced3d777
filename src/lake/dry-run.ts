import { join } from 'node:path'
import { toWarn } from '../download/events.js'
import { checkRange } from '../download/request-range.js'
import { parseSelection } from '../download/selection.js'
import { openMirror, openSource } from '../download/sources/open-source.js'
import { type DryRunReport, describePlan } from '../export/dry-run.js'
import { planRequest } from '../export/export-series.js'
import { systemClock } from '../http/system-clock.js'
import { seriesName } from '../klines/series.js'
import { isRelativeRange } from '../klines/time-range.js'
import { parseThreads } from '../threads/thread-count.js'
import { findUnused, vacuumTime } from './delta/vacuum.js'
import type { LakeRequest } from './export-lake.js'
import {
  checkFolderNames,
  checkOptions,
  checkOthers,
  findOthers,
  isCompatible,
  type LakeFolder,
  openFolder,
} from './folder.js'
import { PART_FILE, partFolder } from './layout.js'
import { parseLakeOptions, withLakeOptions } from './options.js'
import { SeriesState } from './parts/series-state.js'
import { WindowFiles } from './parts/window-files.js'
import { checkRoot } from './root/files.js'

/**
 * What `exportLake` would download and write: of each series that has changed, or may have changed, the part; with a partitioning
 * by time, and in a Delta table, its folder; and what `prune` and `vacuum` would remove. Stores and writes nothing. Throws what `exportLake` would
 * throw about the request and the folder.
 */
export async function dryRunLake(given: LakeRequest): Promise<DryRunReport> {
  const { output: root, force = false, prune = false } = given
  const selection = parseSelection(given)
  checkRange(given)
  parseThreads(given)
  const now = given.now ?? systemClock.now()
  const unusedSince = given.vacuum === undefined ? undefined : vacuumTime(given.vacuum, now)
  checkRoot(root)
  const folder = await openFolder(root, toWarn(given))
  const request = withLakeOptions(given, force ? undefined : folder.manifest?.options)
  const { options } = parseLakeOptions(request, folder.manifest?.options)
  // However many requests the run takes, this one sends none of them.
  const source = await openSource({ ...request, manyRequests: true }, { readOnly: true })
  try {
    checkOptions(folder, source.info.baseUrl, options, force)
    const { plan, series } = await planRequest(request, source, selection)
    const others = findOthers(folder, new Set(series.map(seriesName)))
    checkFolderNames(folder, series)
    if (!prune) checkOthers(folder, others, source.info.baseUrl, options)
    const live = options.table === 'delta' ? new Set(folder.log?.live.keys()) : undefined
    const manifest = force || !isCompatible(folder, source.info.baseUrl, options) ? undefined : folder.manifest
    const fingerprint = request.fingerprint || manifest?.series.some(({ fingerprint }) => fingerprint)
    const files = new WindowFiles(openMirror(request), new Map(), manifest)
    const changed = series.filter(planned => {
      if (isRelativeRange(request) || planned.windows.some(window => source.costs.cacheState(window) !== 'cached'))
        return true
      return !new SeriesState(root, planned, manifest, files, { live, fingerprint }).isComplete
    })
    // The parts of a table get their names when they are written.
    const isNamed = options.partition === 'none' && options.table === undefined
    const paths = changed.map(one => join(root, partFolder(one, 'none', 0), isNamed ? PART_FILE : ''))
    const removed = prune ? [...others.values()].flat().map(path => join(root, path)) : []
    const vacuumed = await findVacuumed(folder, unusedSince)
    return { ...describePlan(source, plan, paths), removed, vacuumed }
  } finally {
    await source.close()
  }
}

/** The files that `vacuum` would remove. */
async function findVacuumed({ root, log }: LakeFolder, since: number | undefined): Promise<string[]> {
  if (log === undefined || since === undefined) return []
  const unused = await findUnused(root, log, since)
  return [...unused.parts, ...unused.log].map(path => join(root, path))
}
