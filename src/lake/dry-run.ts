import { join } from 'node:path'
import { toWarn } from '../download/events.js'
import { openMirror, openSource } from '../download/sources/open-source.js'
import { type DryRunReport, describePlan } from '../export/dry-run.js'
import { type PlannedSeries, planRequest } from '../export/export-series.js'
import { type LakeRequest, parseLakeRequest } from './export-lake.js'
import { PART_FILE, partFolder } from './layout.js'
import { WindowFiles } from './parts/window-files.js'
import { checkOptions, LakePlan } from './plan.js'

/**
 * What `exportLake` would download and write: of each series that has changed, or may have changed, the part; with a partitioning
 * by time, its folder; and what `prune` would remove. Stores and writes nothing. Throws what `exportLake` would
 * throw about the request and the folder.
 */
export async function dryRunLake(request: LakeRequest): Promise<DryRunReport> {
  const { output: root, prune } = request
  const parsed = parseLakeRequest(request, toWarn(request))
  const { selection, folder, options, rowFormat, force, moves } = parsed
  // However many requests the run takes, this one sends none of them.
  const source = await openSource(request, { readOnly: true })
  try {
    checkOptions(folder, source.info.baseUrl, options, force)
    const { plan, series } = await planRequest(request, source, selection)
    const windows = new WindowFiles(openMirror(request), new Map(), force ? undefined : folder.manifest)
    const job = { source, plan, options, rowFormat, series, windows }
    const lake = new LakePlan(folder, job, { ...request, force, moves })
    const mayChange = ({ windows }: PlannedSeries) =>
      moves || windows.some(window => source.costs.cacheState(window) !== 'cached')
    const changed = series.filter(planned => mayChange(planned) || !lake.stateOf(planned).isComplete)
    const name = options.partition === 'none' ? PART_FILE : ''
    const paths = changed.map(one => join(root, partFolder(one, 'none', 0), name))
    const removed = prune ? [...lake.others.values()].flat().map(path => join(root, path)) : []
    return { ...describePlan(source, plan, paths), removed }
  } finally {
    await source.close()
  }
}
