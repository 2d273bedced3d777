import { join } from 'node:path'
import { type DryRunReport, describePlan } from '../engine/dry-run.js'
import { openRun, withRun } from '../engine/run.js'
import { PART_FILE, seriesFolder } from './layout.js'
import { compareSeries, type LakeRequest, openLake, otherParts } from './update.js'

/**
 * What `exportLake` would download and write: of each series that has changed, or may have changed, the part; with a partitioning
 * by time, its folder; and what `prune` would remove. Stores and writes nothing. Throws what `exportLake` would throw about the request
 * and the folder.
 */
export async function dryRunLake(request: LakeRequest): Promise<DryRunReport> {
  return withRun(openRun(request, { readOnly: true }), async run => {
    const { output: root, prune, partition = 'none' } = request
    const job = await openLake(request, run)
    const plan = describePlan(job.plan, run, [])
    const changed = job.plan.series.filter((one, index) => {
      const { open, missing } = plan.series[index].windows
      if (open + missing > 0) return true
      const { isUnchanged, parts } = compareSeries(job, one)
      return !isUnchanged && parts.some(({ current }) => current === undefined)
    })
    const name = partition === 'none' ? PART_FILE : ''
    const files = changed.map(({ label }) => join(root, seriesFolder(label), name))
    const removed = prune ? [...otherParts(job).values()].flat().map(path => join(root, path)) : []
    return { ...plan, files, removed }
  })
}
