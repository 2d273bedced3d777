import { fstatSync } from 'node:fs'
import { downloadKlines } from '../../engine/download.js'
import { type DryRunReport, dryRun } from '../../engine/dry-run.js'
import { type ExportRequest, exportTo } from '../../engine/export.js'
import type { Run } from '../../engine/run.js'
import { parseSelectionText } from '../../engine/selection.js'
import type { Plan } from '../../engine/series-plan.js'
import { parseColumns } from '../../export/row-format.js'
import { KlinesError } from '../../klines/errors.js'
import { isBinary, resolveFormat } from '../../options/formats.js'
import type { RunContext } from '../base-command.js'
import { chartStyle } from '../chart/screen.js'
import type { JobFlags } from '../flags/download.js'
import { toOutputRequest } from '../flags/from-table.js'
import { pick } from '../flags/group.js'
import { toFetchOptions } from '../flags/service.js'
import { restatedLines } from '../reports/changes.js'
import { coverageText } from '../reports/coverage.js'
import { fingerprintLines } from '../reports/fingerprint.js'
import type { Report } from '../reports/report.js'
import { dryRunReport, runReport } from '../reports/run.js'
import { type RunResult, tableNotes } from '../reports/run-text.js'
import { resolveFlags } from '../resolve-flags.js'
import { CandleTable } from '../terminal/candle-table.js'
import { print, printNote } from '../terminal/print.js'
import { downloadingFrom, ProgressDisplay } from '../terminal/progress.js'

const READING = { start: 'Reading the mirror', verb: 'Reading', noun: 'window' }

/** Candles that a lock names. */
export interface LockedCandles {
  /** The windows of its series, each with its own range. */
  readonly plan: (run: Run) => Promise<Plan>
  readonly report?: (result: RunResult) => Report
}

/**
 * `download` and `export`: downloads candles into the mirror unless `offline`, and exports them when an output or a format
 * is named; `offline` always exports, to stdout when no file is named. Returns undefined when the data went to stdout. `locked`:
 * candles that a lock names.
 */
export async function runCandles(
  symbols: string[],
  given: JobFlags,
  offline: boolean,
  context: RunContext,
  locked?: LockedCandles,
): Promise<Report | undefined> {
  const flags = resolveFlags(given, offline, context.given)
  const { output } = flags
  checkStandardOutput(output, flags)
  const named = { ...toRequest(symbols, flags, context), offline, output }
  const table = flags.isTable ? openTable(flags) : undefined
  const run = async ({ events }: ProgressDisplay) => {
    const startedMs = performance.now()
    const request = { ...named, onEvent: events(context.warn) }
    if (flags['dry-run']) return dryRunReport(await runDry(flags, request, locked))
    const result = await runJob(flags, request, table, locked)
    if (table && !flags.quiet) print(tableNotes(table.omitted, result))
    // A reader that has closed the pipe has seen enough.
    if (output === '-' && !flags.quiet && process.stdout.writable) {
      for (const line of streamNotes(result, table !== undefined)) printNote(line)
    }
    const elapsedMs = performance.now() - startedMs
    const details = { elapsedMs, now: Date.now(), offline, perSeries: flags['per-series'] ?? false }
    return locked?.report?.(result) ?? runReport(result, details)
  }
  // Every window is there before the first byte goes to stdout, where it must not meet a bar.
  const endsEarly = output === '-'
  const words = offline ? READING : downloadingFrom(flags['base-url'])
  const report = await ProgressDisplay.during(context.progressStyle, words, run, { endsEarly })
  if (output !== '-' || flags['dry-run']) return report
  if (flags.format === undefined && isStdoutFile()) context.warn('JSON rows, one array; -f csv writes CSV.')
  return undefined
}

/** What stderr says about candles that went to stdout, where no summary says it. What a range lacks stands below a table already. */
function streamNotes({ series, range, baseUrl, fingerprints }: RunResult, isTable: boolean): string[] {
  const coverage = isTable ? undefined : coverageText(series, { range, baseUrl, verbose: false })
  return [
    ...restatedLines(series),
    ...(coverage === undefined ? [] : [coverage]),
    ...(fingerprints ? fingerprintLines(fingerprints) : []),
  ]
}

type JobRequest = Omit<ExportRequest, 'output'> & { readonly output: string | undefined }

async function runJob(
  flags: JobFlags,
  { output, ...request }: JobRequest,
  shown: CandleTable | undefined,
  locked: LockedCandles | undefined,
): Promise<RunResult> {
  if (output === undefined) return downloadKlines(request)
  if (flags.layout === undefined)
    return exportTo({ ...request, output }, shown && (() => shown.toStdout(request.signal)), locked?.plan)
  return (await import('../../lake/update.js')).exportLake({ ...request, output, ...lakeOptions(flags) })
}

async function runDry(
  flags: JobFlags,
  { output, ...request }: JobRequest,
  locked: LockedCandles | undefined,
): Promise<DryRunReport> {
  if (output === undefined || flags.layout === undefined) return dryRun({ ...request, output }, locked?.plan)
  return (await import('../../lake/dry-run.js')).dryRunLake({ ...request, output, ...lakeOptions(flags) })
}

function lakeOptions(flags: JobFlags) {
  return pick(flags, 'partition', 'prune')
}

function openTable({ columns, limit, tail, 'time-format': timeFormat }: JobFlags): CandleTable {
  return new CandleTable({
    columns: columns && parseColumns(columns),
    timeFormat,
    isExcerpt: limit !== undefined || tail !== undefined,
    width: process.stdout.columns || Number.POSITIVE_INFINITY,
    ascii: chartStyle({}).ascii,
  })
}

/** Whether stdout was sent to a file, as a person does who may expect another format. */
function isStdoutFile(): boolean {
  try {
    return fstatSync(process.stdout.fd).isFile()
  } catch {
    return false
  }
}

function toRequest(symbols: string[], flags: JobFlags, { signal }: RunContext): Omit<ExportRequest, 'output'> {
  return {
    ...parseSelectionText(symbols, flags.interval),
    ...pick(flags, 'from', 'to', 'last', 'resample', 'partial', 'limit', 'tail'),
    baseUrl: flags['base-url'],
    ...pick(flags, 'mirror', 'format', 'force', 'threads', 'fingerprint'),
    ...toFetchOptions(flags),
    ...toOutputRequest(flags),
    failOnGaps: flags['fail-on-gaps'],
    signal,
  }
}

/** Candles on stdout leave no room for the object of `--json`, and a terminal cannot show binary data. */
export function checkStandardOutput(output: string | undefined, flags: JobFlags): void {
  if (output !== '-' || flags['dry-run'] || flags.layout !== undefined) return
  if (flags.json) {
    const message = '--json prints an object on stdout, where the candles go. Expected one of them.'
    const suggestions = ['Write the candles to a file with -o FILE, or leave --json out.']
    throw new KlinesError('bad_option', message, { suggestions })
  }
  const { format } = resolveFormat(output, flags.format)
  if (isBinary(format) && process.stdout.isTTY) {
    const suggestions = ['Write it to a file with -o FILE, or pipe it on.']
    throw new KlinesError('bad_output', `${format} is binary, and stdout is a terminal.`, { suggestions })
  }
}
