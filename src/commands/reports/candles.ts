import { fstatSync } from 'node:fs'
import type * as Interfaces from '@oclif/core/interfaces'
import { type RunContext, toOptions } from '../../cli/command.js'
import { type CandleFlags, checkStandardOutput, refuseBesideLock, resolveFlags } from '../../cli/resolve-flags.js'
import { CandleTable } from '../../cli/terminal/candle-table.js'
import { printNote } from '../../cli/terminal/print.js'
import { downloadingFrom, READING } from '../../cli/terminal/progress-text.js'
import { dryRun, type ExportRequest, exportTo } from '../../engine/export.js'
import type { DryRunReport } from '../../engine/klines.js'
import { downloadKlines } from '../../engine/klines.js'
import { checkOutputs, parseTemplate, planOutputs } from '../../engine/output-names.js'
import type { Run } from '../../engine/run.js'
import { parseSelection } from '../../engine/selection.js'
import type { Plan } from '../../engine/windows.js'
import { parseColumns } from '../../formats/row-format.js'
import { reportFingerprints } from '../../rows/fingerprint.js'
import { DryRun, Run as RunSummary } from './run.js'
import { type RunResult, streamNotes } from './run-text.js'

/** What both commands have while they run. */
export type CandleContext = Pick<
  RunContext<Interfaces.FlagInput, Interfaces.ArgInput>,
  'given' | 'warn' | 'during' | 'show'
> & {
  readonly options: { readonly signal: AbortSignal }
  readonly flags: CandleFlags & { readonly quiet: boolean }
}

interface CandleRun {
  readonly symbols: string[]
  /** Read the mirror alone, and export always, to stdout when no file is named. */
  readonly offline?: boolean
  /** The windows of the series of a lock, each with its own range. */
  readonly plan?: (run: Run) => Promise<Plan>
}

/**
 * Downloads candles into the mirror unless `offline`, and exports them when an output or a format is named. Returns undefined when the
 * data went to stdout.
 */
export async function runCandles(
  { flags: all, options: { signal }, given, warn, during }: CandleContext,
  { symbols, offline = false, plan }: CandleRun,
): Promise<RunResult | DryRunReport | undefined> {
  const startedMs = performance.now()
  const flags = { ...all, ...resolveFlags(all, offline, given) }
  const { output, quiet } = flags
  checkStandardOutput(output, flags)
  const selection = parseSelection({ symbols, intervals: flags.interval ?? [] })
  const request = { ...toOptions(flags), ...selection, offline, signal } as unknown as ExportRequest & {
    output?: string
  }
  const table = flags.isTable ? openTable(flags) : undefined
  const work = async (events: Pick<ExportRequest, 'onEvent'>): Promise<RunResult | DryRunReport> => {
    const named = { ...request, ...events }
    const lake = output !== undefined && flags.layout !== undefined ? { ...named, output } : undefined
    if (flags['dry-run']) return lake ? (await import('../../lake/plan.js')).dryRunLake(lake) : dryRun(named, plan)
    const result: Omit<RunResult, 'elapsedMs'> = lake
      ? await (await import('../../lake/update.js')).exportLake(lake)
      : output === undefined
        ? await downloadKlines(named)
        : await exportTo({ ...named, output }, { sink: table && (() => table.toStdout(signal)), plan })
    // A reader that has closed the pipe has seen enough.
    if (output === '-' && !quiet && process.stdout.writable) {
      for (const line of streamNotes(result, table?.omitted)) printNote(line)
    }
    return { ...result, offline, elapsedMs: performance.now() - startedMs }
  }
  // Every window is there before the first byte goes to stdout, where it must not meet a bar.
  const result = await during(offline ? READING : downloadingFrom(flags['base-url']), work, {
    endsEarly: output === '-',
  })
  if (output !== '-' || flags['dry-run']) return result
  if (flags.format === undefined && isStdoutFile()) warn('JSON rows, one array; -f csv writes CSV.')
  return undefined
}

/** Prints what a run did, or would do. */
export function showRun(
  { flags, show }: Pick<CandleContext, 'flags' | 'show'>,
  result: RunResult | DryRunReport,
): void {
  if (flags['dry-run']) show(DryRun, result as DryRunReport)
  else show(RunSummary, result as RunResult)
}

function openTable({ columns, limit, tail, 'time-format': timeFormat }: CandleFlags): CandleTable {
  return new CandleTable({
    columns: columns && parseColumns(columns),
    timeFormat,
    isExcerpt: limit !== undefined || tail !== undefined,
    width: process.stdout.columns || Number.POSITIVE_INFINITY,
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

/** What changes which candles are written, or where: a lock has exactly its own. */
const NOT_LOCKED = ['resample', 'partial', 'limit', 'tail', 'layout', 'partition', 'prune', 'fail-on-gaps']

/**
 * Downloads the series of a lock and compares them with it; then exports them, if an output or a format is named. Throws `lock_differs`,
 * and nothing is exported then. Returns undefined when the data went to stdout.
 */
export async function runLockedDownload(
  path: string,
  named: string[] | undefined,
  context: CandleContext,
): Promise<RunResult | DryRunReport | undefined> {
  const { given, during } = context
  refuseBesideLock(named, NOT_LOCKED, given)
  const startedMs = performance.now()
  const { checkLock, findLockSource, planLock } = await import('../../identity/check-lock.js')
  const { readLock } = await import('../../identity/lock-file.js')
  const { checkLines, lockDiffers } = await import('./lock.js')
  const lock = await readLock(path)
  const { mirror, 'base-url': address } = context.flags
  const baseUrl = findLockSource(lock, { lock: path, mirror, baseUrl: given.has('base-url') ? address : undefined })
  // Defaults of variables and files that would change which candles are written are left out.
  const dropped = Object.fromEntries([...NOT_LOCKED, 'from', 'to', 'last'].map(name => [name, undefined]))
  const unique = (key: 'symbol' | 'interval') => [...new Set(lock.series.map(one => one[key]))]
  const flags = { ...context.flags, ...dropped, interval: unique('interval'), 'base-url': baseUrl }
  const run = { symbols: unique('symbol'), plan: planLock.bind(null, lock) }
  if (flags['dry-run']) return runCandles({ ...context, flags }, run)
  const { output, format } = resolveFlags(flags, false, given)
  checkStandardOutput(output, flags)
  if (output !== undefined) await checkOutputs(planOutputs(output, parseTemplate(output, format), lock.series), flags)
  const request = { ...toOptions(flags), lock: path, signal: context.options.signal }
  const check = await during(downloadingFrom(baseUrl), events => checkLock({ ...request, ...events }))
  const { download } = check
  if (check.verdict !== 'equal' || download === undefined) throw lockDiffers(check, output !== undefined)
  const exported =
    output === undefined ? { files: [] } : await runCandles({ ...context, flags }, { ...run, offline: true })
  if (exported === undefined) return undefined
  return {
    ...download,
    elapsedMs: performance.now() - startedMs,
    files: (exported as Partial<RunResult>).files,
    lock: { path, series: lock.series.length, lines: checkLines(check) },
    ...(flags.fingerprint && { fingerprints: reportFingerprints(check.series.flatMap(({ found }) => found ?? [])) }),
  }
}
