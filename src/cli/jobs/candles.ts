import { downloadKlines } from '../../download/download.js'
import { dryRun } from '../../export/dry-run.js'
import { type ExportRequest, exportKlines } from '../../export/export.js'
import { isBinary, resolveFormat } from '../../export/formats/format.js'
import { KlinesError } from '../../klines/errors.js'
import type { RunContext } from '../base-command.js'
import { offlineEndpoint, startEndpoint } from '../endpoint.js'
import type { JobFlags } from '../flags.js'
import { dryRunObject, dryRunSummary, runObject, runSummary } from '../reports/run.js'
import { resolveFlags } from '../resolve-flags.js'
import { showProgress } from '../terminal/progress.js'

/** What a job has to show; nothing when its data went to stdout. */
export interface JobResult {
  readonly json: object
  readonly text: () => string
}

/**
 * `download` and `export`: brings candles into the mirror unless `offline`, exports them when an output or a format is
 * named (always, when offline; to stdout when no file is).
 */
export async function runJob(
  symbols: string[],
  given: JobFlags,
  offline: boolean,
  context: RunContext,
): Promise<JobResult | undefined> {
  const flags = resolveFlags(given, offline)
  const { output } = flags
  checkStandardOutput(output, flags)
  const endpoint = await (offline ? offlineEndpoint : startEndpoint)(flags['base-url'])
  const request = { ...toRequest(symbols, flags, context), baseUrl: endpoint.baseUrl, offline }
  const display = await showProgress(flags['dry-run'] ? 'none' : context.progressStyle, 'Asking for the lists')
  try {
    if (flags['dry-run']) {
      const report = await dryRun({ ...request, output })
      return { json: dryRunObject(report), text: () => dryRunSummary(report) }
    }
    const report =
      output === undefined
        ? await downloadKlines(request, display.progress)
        : await exportKlines({ ...request, output }, display.progress)
    return output === '-' ? undefined : { json: runObject(report), text: () => runSummary(report) }
  } finally {
    display.done()
    await endpoint.close()
  }
}

function toRequest(symbols: string[], flags: JobFlags, { signal, warn }: RunContext): Omit<ExportRequest, 'output'> {
  const { interval, from, to, last, mirror, concurrency, refresh, format, columns, numbers, force } = flags
  const { resample, partial, derive } = flags
  return {
    symbols,
    // From the environment oclif gives a flag that may be repeated as one text, with its commas.
    intervals: [interval].flat(),
    from,
    to,
    last,
    mirror,
    concurrency,
    refresh,
    format,
    columns: columns && [columns].flat(),
    numbers,
    resample,
    partial,
    derive,
    force,
    timeFormat: flags['time-format'],
    signal,
    warn,
  }
}

/** Data on stdout leaves no room for anything else there, and binary data has no place on a terminal. */
function checkStandardOutput(output: string | undefined, flags: JobFlags): void {
  if (output !== '-' || flags['dry-run']) return
  if (flags.json) {
    throw new KlinesError(
      'bad_option',
      '--json prints an object on stdout, where the candles go. Expected one of them.',
      {
        suggestions: ['Write the candles to a file with -o FILE, or leave --json out.'],
      },
    )
  }
  const { format } = resolveFormat(output, flags.format)
  if (isBinary(format) && process.stdout.isTTY) {
    throw new KlinesError('bad_output', `${format} is binary, and stdout is a terminal.`, {
      suggestions: ['Write it to a file with -o FILE, or pipe it on.'],
    })
  }
}
