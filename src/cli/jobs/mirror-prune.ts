import { pruneMirror } from '../../mirror/prune.js'
import type { LocationFlags } from '../flags.js'
import { requireMirror } from '../local-mirror.js'
import { removalReport } from '../reports/removal.js'
import type { Report } from '../reports/report.js'
import type { PruneObject } from '../reports/schema.js'

/** `mirror prune`. */
export function runMirrorPrune(flags: LocationFlags & { 'dry-run'?: boolean }): Report<PruneObject> {
  const { 'dry-run': dryRun = false } = flags
  const { json, text } = removalReport(pruneMirror(requireMirror(flags), { dryRun }), dryRun)
  return { json: { dryRun, ...json }, text }
}
