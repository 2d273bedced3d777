import { updateKlines } from '../../engine/download.js'
import { dryRunUpdate } from '../../engine/dry-run.js'
import { openMirror } from '../../engine/run.js'
import { KlinesError } from '../../klines/errors.js'
import type { RunContext } from '../base-command.js'
import type { UpdateFlags } from '../flags/download.js'
import { toFetchOptions } from '../flags/service.js'
import type { Report } from '../reports/report.js'
import { dryRunReport, runReport } from '../reports/run.js'
import type { DryRunObject, RunObject } from '../reports/schema.js'
import { downloadingFrom, ProgressDisplay } from '../terminal/progress.js'

/** `update`: every series of the mirror. */
export async function runUpdate(
  flags: UpdateFlags,
  { signal, warn, progressStyle }: RunContext,
): Promise<Report<RunObject | DryRunObject>> {
  const startedMs = performance.now()
  const mirror = openMirror({ baseUrl: flags['base-url'], mirror: flags.mirror })
  const baseUrl = flags['base-url'] ?? mirror.source
  if (baseUrl === undefined && mirror.exists) {
    throw new KlinesError('bad_option', `${mirror.root} does not say where its candles come from.`, {
      suggestions: ['Name the address with --base-url.'],
    })
  }
  const options = { baseUrl, mirror: flags.mirror, ...toFetchOptions(flags), failOnGaps: flags['fail-on-gaps'], signal }
  return ProgressDisplay.during(progressStyle, downloadingFrom(baseUrl), async ({ events }) => {
    const request = { ...options, onEvent: events(warn) }
    if (flags['dry-run']) return dryRunReport(await dryRunUpdate(request))
    const run = await updateKlines(request)
    const elapsedMs = performance.now() - startedMs
    const perSeries = flags['per-series'] ?? false
    return runReport(run, { elapsedMs, now: Date.now(), offline: false, perSeries })
  })
}
