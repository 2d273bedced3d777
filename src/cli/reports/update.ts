import type { DryRunReport } from '../../export/dry-run.js'
import { SAMPLE } from '../../http/base-url.js'
import type { KlinesError } from '../../klines/errors.js'
import { formatBytes, formatCount, formatTime, plural } from '../../klines/text.js'
import { EXIT_CODES } from '../error-report.js'
import { textTable } from '../terminal/table.js'
import { formatDuration } from '../terminal/text.js'
import { restatedLines } from './changes.js'
import { coverageText } from './coverage.js'
import { type Report, sum } from './report.js'
import { dryRunReport, runReport } from './run.js'
import { latestOpenTime, type RunDetails, type RunResult, SYNTHETIC } from './run-text.js'
import type { UpdateObject } from './schema.js'

/** What became of the mirror, or of a path: the result of its run, what a run would do, or why it failed. */
export interface UpdateOutcome {
  /** Undefined for the mirror. */
  readonly path: string | undefined
  readonly run?: RunResult
  readonly plan?: DryRunReport
  readonly error?: KlinesError
}

/** `update`. */
export function updateReport(outcomes: readonly UpdateOutcome[], details: RunDetails): Report<UpdateObject> {
  const updates = outcomes.map(outcome => {
    const { path = null, run, plan, error } = outcome
    return {
      path,
      state: findState(outcome),
      ...(run && { run: runReport(run, details).json }),
      ...(plan && { plan: dryRunReport(plan).json }),
      ...(error && { error: { code: error.code, message: error.message, exitCode: EXIT_CODES[error.code] } }),
    }
  })
  return { json: { updates }, text: () => describe(outcomes, details) }
}

function findState({ run, error, plan }: UpdateOutcome): UpdateObject['updates'][number]['state'] {
  if (error) return 'failed'
  if (run === undefined) return plan ? 'planned' : 'up to date'
  const { files, lake, series } = run
  const changes = lake ? lake.written + lake.removed.length : files?.length
  return (changes ?? sum(series.map(({ windows }) => windows.fetched))) > 0 ? 'updated' : 'up to date'
}

function describe(outcomes: readonly UpdateOutcome[], details: RunDetails): string {
  const [{ path, run }] = outcomes
  // The mirror has many series, and paths have few.
  if (path === undefined && run) return runReport(run, details).text()
  const plans = outcomes.flatMap(({ plan }) => (plan ? [dryRunReport(plan).text()] : []))
  if (plans.length > 0) return plans.join('\n\n')
  const table = textTable({
    head: ['path', 'candles', 'latest (UTC)', 'state'],
    rows: outcomes.map(toRow),
    right: ['candles'],
  })
  const runs = outcomes.flatMap(({ run }) => run ?? [])
  const lines = outcomes.flatMap(({ path, run }) => {
    const text = run && coverageText(run.series, { ...run, verbose: false })
    return text === undefined ? [] : [`${path}: ${text}`]
  })
  const [requests, bytes] = [sum(runs.map(({ requests }) => requests)), sum(runs.map(({ bytes }) => bytes))]
  lines.push(...restatedLines(runs.flatMap(({ series }) => series)))
  if (runs.some(({ baseUrl }) => baseUrl === SAMPLE)) lines.push(SYNTHETIC)
  const traffic = `${plural(requests, 'request')}, ${formatBytes(bytes)} received in ${formatDuration(details.elapsedMs)}.`
  return [table, '', ...lines, traffic].join('\n')
}

function toRow(outcome: UpdateOutcome): string[] {
  const { path = '', run } = outcome
  return [
    path,
    run ? formatCount(sum(run.series.map(({ candles }) => candles))) : '-',
    formatTime(run && latestOpenTime(run.series)),
    findState(outcome),
  ]
}
