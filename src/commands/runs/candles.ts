import type * as Interfaces from '@oclif/core/interfaces'
import type { Interval } from '../../candles/intervals.js'
import { type RunContext, toOptions } from '../../cli/command.js'
import { type CandleFlags, checkStandardOutput, refuseBesideLock, resolveFlags } from '../../cli/resolve-flags.js'
import { CandleTable } from '../../cli/terminal/candle-table.js'
import { printNote } from '../../cli/terminal/print.js'
import { downloadingFrom, READING } from '../../cli/terminal/progress-text.js'
import { dryRun, type ExportRequest, exportTo } from '../../engine/export.js'
import { downloadKlines } from '../../engine/klines.js'
import { checkOutputs, parseTemplate, planOutputs } from '../../engine/output-names.js'
import type { Plan, Run } from '../../engine/run.js'
import { parseColumns } from '../../formats/row-format.js'
import { isStdout } from '../../fs/links.js'
import { reportFingerprints } from '../../rows/fingerprint.js'
import { DryRun, type RunResult, Run as RunSummary, streamNotes } from '../reports/run.js'

type AnyContext = RunContext<Interfaces.FlagInput, Interfaces.ArgInput>
type Context = Pick<AnyContext, 'given' | 'during' | 'show'> & {
  readonly options: Pick<AnyContext['options'], 'signal' | 'onEvent'>
  readonly flags: CandleFlags & { readonly quiet: boolean }
}

interface CandleRun {
  readonly symbols: string[]
  /** Read the mirror alone, and export always, to stdout when no file is named. */
  readonly offline?: boolean
  /** The windows of the series of a lock, each with its own range. */
  readonly plan?: (run: Run) => Promise<Plan>
  /** What was done before, for the summary. */
  readonly before?: Partial<RunResult>
  readonly startedMs?: number
}

/** Downloads candles into the mirror unless `offline`, exports them when an output or a format is named, and prints the summary. */
export async function runCandles(context: Context, run: CandleRun): Promise<void> {
  const { given, during, show } = context
  const { symbols, offline = false, plan, before, startedMs = performance.now() } = run
  const flags = { ...context.flags, ...resolveFlags(context.flags, offline, given) }
  const { output, layout, columns } = flags
  const { signal, onEvent } = context.options
  checkStandardOutput(output, flags)
  const named = { symbols, intervals: flags.interval ?? [], offline, signal, onEvent }
  const request = { ...toOptions(flags), ...named } as unknown as ExportRequest & { readonly output: string }
  const words = offline ? READING : downloadingFrom(flags['base-url'])
  // Every window is there before the first byte goes to stdout, where it must not meet a bar.
  const style = { endsEarly: output !== undefined && isStdout(output) }
  if (flags['dry-run']) {
    const { dryRunLake } = await import('../../lake/plan.js')
    return show(DryRun, await during(words, () => (layout ? dryRunLake(request) : dryRun(request, plan)), style))
  }
  const table = flags.isTable
    ? new CandleTable({
        columns: columns && parseColumns(columns),
        timeFormat: flags['time-format'],
        isExcerpt: flags.limit !== undefined || flags.tail !== undefined,
        width: process.stdout.columns || Infinity,
      })
    : undefined
  const work = async (): Promise<Omit<RunResult, 'elapsedMs'>> => {
    if (output === undefined) return { ...(await downloadKlines(request)), files: [] }
    if (layout) return (await import('../../lake/update.js')).exportLake(request)
    return exportTo(request, { sink: table && (() => table.toStdout(signal)), plan })
  }
  const result = await during(words, work, style)
  // A reader that has closed the pipe has seen enough.
  if (!process.stdout.writable) return
  const isStreamed = result.files.some(({ path }) => path === '-')
  if (isStreamed && !flags.quiet) streamNotes(result, flags, table?.omitted).forEach(printNote)
  else show(RunSummary, { ...result, offline, ...before, elapsedMs: performance.now() - startedMs })
}

/** What changes which candles are written, or where: a lock has exactly its own. */
const NOT_LOCKED = ['resample', 'partial', 'limit', 'tail', 'layout', 'prune', 'fail-on-gaps']

/** Downloads the series of a lock, and exports them if they are exactly those of the lock. Throws `lock_differs`. */
export async function runLockedDownload(path: string, named: string[] | undefined, context: Context): Promise<void> {
  const { given, during, show } = context
  refuseBesideLock(named, NOT_LOCKED, given)
  const startedMs = performance.now()
  const { checkLock, findLockSource, planLock } = await import('../../identity/check-lock.js')
  const { readLock } = await import('../../identity/lock-file.js')
  const { checkLines, lockDiffers } = await import('../reports/lock.js')
  const lock = await readLock(path)
  const { mirror, 'base-url': address } = context.flags
  const baseUrl = findLockSource(lock, { lock: path, mirror, baseUrl: address })
  // Defaults of variables and files that would change which candles are written are left out.
  const dropped = Object.fromEntries([...NOT_LOCKED, 'from', 'to', 'last'].map(name => [name, undefined]))
  const unique = (key: 'symbol' | 'interval') => [...new Set(lock.series.map(one => one[key]))]
  const flags = { ...context.flags, ...dropped, interval: unique('interval') as Interval[], 'base-url': baseUrl }
  const run = { symbols: unique('symbol'), plan: planLock.bind(null, lock) }
  if (flags['dry-run']) return runCandles({ ...context, flags }, run)
  const { output, format } = resolveFlags(flags, false, given)
  checkStandardOutput(output, flags)
  if (output !== undefined) await checkOutputs(planOutputs(output, parseTemplate(output, format), lock.series))
  const { signal, onEvent } = context.options
  const request = { ...toOptions(flags), lock: path, signal, onEvent }
  const check = await during(downloadingFrom(baseUrl), () => checkLock(request))
  const { download } = check
  if (check.verdict !== 'equal' || download === undefined) throw lockDiffers(check, output !== undefined)
  const before = {
    ...{ ...download, offline: false },
    lock: { path, series: lock.series.length, lines: checkLines(check) },
    ...(flags.fingerprint && { fingerprints: reportFingerprints(check.series.flatMap(({ found }) => found ?? [])) }),
  }
  if (output === undefined) show(RunSummary, { ...before, files: [], elapsedMs: performance.now() - startedMs })
  else await runCandles({ ...context, flags }, { ...run, offline: true, before, startedMs })
}
