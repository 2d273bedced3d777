import { updateMirror } from '../../download/update.js'
import { dryRunUpdate } from '../../export/dry-run.js'
import { systemClock } from '../../http/system-clock.js'
import { KlinesError } from '../../klines/errors.js'
import type { RunContext } from '../base-command.js'
import type { UpdateFlags } from '../flags/download.js'
import { toFetchOptions } from '../flags/service.js'
import { requireMirror } from '../local-mirror.js'
import type { Report } from '../reports/report.js'
import { dryRunReport, runReport } from '../reports/run.js'
import type { DryRunObject, RunObject } from '../reports/schema.js'
import { downloadingFrom } from '../service-address.js'
import { ProgressDisplay } from '../terminal/progress.js'

/** `update`: every series of the mirror. */
export async function runUpdate(
  flags: UpdateFlags,
  { signal, warn, progressStyle }: RunContext,
): Promise<Report<RunObject | DryRunObject>> {
  const startedMs = performance.now()
  const mirror = requireMirror(flags, warn)
  const baseUrl = flags['base-url'] ?? mirror.baseUrl
  if (baseUrl === undefined) {
    throw new KlinesError('bad_option', `${mirror.root} does not say where its candles come from.`, {
      suggestions: ['Name the address with `baseUrl`.'],
    })
  }
  const options = { baseUrl, mirror: flags.mirror, ...toFetchOptions(flags), failOnGaps: flags['fail-on-gaps'], signal }
  return ProgressDisplay.during(progressStyle, downloadingFrom(baseUrl), async ({ events }) => {
    const request = { ...options, onEvent: events(warn) }
    if (flags['dry-run']) return dryRunReport(await dryRunUpdate(request))
    const run = await updateMirror(request)
    const elapsedMs = performance.now() - startedMs
    const perSeries = flags['per-series'] ?? false
    return runReport(run, { elapsedMs, now: systemClock.now(), offline: false, perSeries })
  })
}
