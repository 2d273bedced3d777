import { fstatSync } from 'node:fs'
import type * as Interfaces from '@oclif/core/interfaces'
import { KlinesError } from '../candles/errors.js'
import { downloadKlines } from '../engine/download.js'
import { type DryRunReport, dryRun } from '../engine/dry-run.js'
import { type ExportRequest, exportTo } from '../engine/export.js'
import type { Run } from '../engine/run.js'
import { parseSelectionText } from '../engine/selection.js'
import type { Plan } from '../engine/series-plan.js'
import { parseColumns } from '../formats/row-format.js'
import { isBinary, resolveFormat } from '../options/formats.js'
import { chartStyle } from './chart/screen.js'
import { type RunContext, toOptions } from './command.js'
import { DryRun, Run as RunSummary } from './reports/run.js'
import { type RunResult, streamNotes, tableNotes } from './reports/run-text.js'
import { type CandleFlags, resolveFlags } from './resolve-flags.js'
import { CandleTable } from './terminal/candle-table.js'
import { print, printNote } from './terminal/print.js'
import { downloadingFrom, READING } from './terminal/progress-text.js'

/** What both commands have while they run. */
export type CandleContext = Pick<
  RunContext<Interfaces.FlagInput, Interfaces.ArgInput>,
  'given' | 'warn' | 'during' | 'show'
> & {
  readonly options: { readonly signal: AbortSignal }
  readonly flags: CandleFlags & { readonly quiet: boolean; readonly json?: boolean | undefined }
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
  const selection = parseSelectionText(symbols, flags.interval ?? [])
  const request = { ...toOptions(flags), ...selection, offline, signal } as unknown as ExportRequest & {
    output?: string
  }
  const table = flags.isTable ? openTable(flags) : undefined
  // Every window is there before the first byte goes to stdout, where it must not meet a bar.
  const endsEarly = output === '-'
  const words = offline ? READING : downloadingFrom(flags['base-url'])
  const work = async (events: Pick<ExportRequest, 'onEvent'>): Promise<RunResult | DryRunReport> => {
    const named = { ...request, ...events }
    const isLake = output !== undefined && flags.layout !== undefined
    if (flags['dry-run'])
      return isLake ? (await import('../lake/dry-run.js')).dryRunLake({ ...named, output }) : dryRun(named, plan)
    const sink = table && (() => table.toStdout(signal))
    const result: RunResult | Omit<RunResult, 'elapsedMs'> = isLake
      ? await (await import('../lake/update.js')).exportLake({ ...named, output })
      : output === undefined
        ? await downloadKlines(named)
        : await exportTo({ ...named, output }, sink, plan)
    if (table && !quiet) print(tableNotes(table.omitted, result))
    // A reader that has closed the pipe has seen enough.
    if (output === '-' && !quiet && process.stdout.writable) {
      for (const line of streamNotes(result, table !== undefined)) printNote(line)
    }
    return { ...result, offline, elapsedMs: performance.now() - startedMs }
  }
  const result = await during(words, work, { endsEarly })
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

/** Candles on stdout leave no room for the object of `--json`, and a terminal cannot show binary data. */
export function checkStandardOutput(output: string | undefined, flags: CandleContext['flags']): void {
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
