import { updateMirror } from '../../download/update.js'
import { type DryRunReport, dryRunUpdate } from '../../export/dry-run.js'
import { systemClock } from '../../http/system-clock.js'
import { isKlinesError, KlinesError } from '../../klines/errors.js'
import type { RunContext } from '../base-command.js'
import type { UpdateFlags } from '../flags/download.js'
import { toFetchOptions } from '../flags/service.js'
import { requireMirror } from '../local-mirror.js'
import type { Report } from '../reports/report.js'
import type { RunResult } from '../reports/run-text.js'
import type { UpdateObject } from '../reports/schema.js'
import { type UpdateOutcome, updateReport } from '../reports/update.js'
import { downloadingFrom, withAddress } from '../service-address.js'
import { ProgressDisplay } from '../terminal/progress.js'
import { checkTargets, type UpdateTarget } from '../update-targets.js'

/** Codes of what a service says to all requests of a run. */
const ENDS_SOURCE = ['unreachable', 'rate_limited'] as const

/**
 * `update`: the mirror, or what paths name, one after the other. What fails does not keep the others from being updated: the report has
 * the first failure; where nothing else was to be done, it is thrown.
 */
export async function runUpdate(
  paths: readonly string[],
  flags: UpdateFlags,
  context: RunContext,
): Promise<Report<UpdateObject> & { readonly failure: KlinesError | undefined }> {
  const startedMs = performance.now()
  const targets = paths.length === 0 ? [mirrorTarget(flags, context)] : await checkTargets(paths, flags, context)
  const outcomes: UpdateOutcome[] = []
  const failures = new Map<string, KlinesError>()
  for (const target of targets) {
    const { path, source } = target
    try {
      const before = failures.get(source)
      if (before && ENDS_SOURCE.some(code => isKlinesError(before, code))) throw before
      outcomes.push({ path, ...(await updateTarget(target, flags, context)) })
    } catch (error) {
      if (targets.length === 1 || !isKlinesError(error)) throw error
      failures.set(source, error)
      outcomes.push({ path, error })
    }
  }
  const details = { elapsedMs: performance.now() - startedMs, now: systemClock.now(), offline: false }
  const [failure] = outcomes.flatMap(({ error }) => error ?? [])
  return { ...updateReport(outcomes, { ...details, perSeries: flags['per-series'] ?? false }), failure }
}

function mirrorTarget(flags: UpdateFlags, context: RunContext): UpdateTarget {
  const mirror = requireMirror(flags, context.warn)
  const source = flags['base-url'] ?? mirror.baseUrl
  if (source !== undefined) return { path: undefined, source, run: updateMirror, plan: dryRunUpdate }
  throw new KlinesError('bad_option', `${mirror.root} does not say where its candles come from.`, {
    suggestions: ['Name the address with `baseUrl`.'],
  })
}

async function updateTarget(
  { source, run, plan }: UpdateTarget,
  flags: UpdateFlags,
  { signal, warn, progressStyle }: RunContext,
): Promise<{ run: RunResult } | { plan: DryRunReport }> {
  const { mirror, threads } = flags
  const common = { mirror, ...toFetchOptions(flags), threads, failOnGaps: flags['fail-on-gaps'], signal }
  return withAddress(source, baseUrl =>
    ProgressDisplay.during(progressStyle, downloadingFrom(baseUrl), async ({ events }) => {
      const request = { ...common, baseUrl, onEvent: events(warn) }
      return flags['dry-run'] ? { plan: await plan(request) } : { run: await run(request) }
    }),
  )
}
