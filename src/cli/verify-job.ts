import { openMirror, openMirrorSource } from '../download/open-source.js'
import { withoutStop } from '../download/outcome.js'
import { parseSelection } from '../download/selection.js'
import { KlinesError } from '../klines/errors.js'
import { type Series, seriesName } from '../klines/series.js'
import { StatsBuilder } from '../klines/series-stats.js'
import type { Mirror } from '../mirror/mirror.js'
import { verifyKlines } from '../mirror/verify-klines.js'
import { ExitCode } from './exit-codes.js'
import type { RunContext } from './klines-command.js'
import { showCount } from './progress.js'
import { namedEndpoint } from './sample.js'
import { statsReport } from './stats-report.js'
import { tableCsv, tableText } from './table-report.js'
import { verifyReport } from './verify-report.js'

/** What the flags of `verify` and `stats` say. */
export interface HeldFlags {
  interval: string[]
  'base-url'?: string | undefined
  mirror?: string | undefined
  format?: string | undefined
  verbose: boolean
}

/** What there is to show. */
export interface HeldReport {
  readonly json: object
  readonly text: () => string
  readonly exitCode: ExitCode
}

/** `verify`: exit code 6 when something is wrong, or with `fail-on-gaps` missing. */
export async function verifyKlinesJob(
  symbols: string[],
  flags: HeldFlags & { audit: boolean; 'fail-on-gaps': boolean },
  { signal, progressStyle, warn }: RunContext,
): Promise<HeldReport> {
  const { mirror, series } = await heldSeries(symbols, flags, warn)
  const display = await showCount(progressStyle, 'series')
  try {
    const verdict = await verifyKlines(mirror, series, { audit: flags.audit, signal, progress: display.count })
    const { json, table, lines, findings, isFaulty, hasGaps } = verifyReport(verdict)
    const isBad = isFaulty || (hasGaps && flags['fail-on-gaps'])
    const text = () =>
      flags.format === 'csv'
        ? tableCsv(table)
        : [tableText(table), '', ...(flags.verbose && findings.length > 0 ? [...findings, ''] : []), ...lines].join(
            '\n',
          )
    return { json, text, exitCode: isBad ? ExitCode.VerificationFailed : ExitCode.Done }
  } finally {
    display.done()
  }
}

/** `stats`. A window that is broken is an error: figures without it would be wrong. */
export async function statsJob(symbols: string[], flags: HeldFlags, { warn }: RunContext): Promise<HeldReport> {
  const { mirror, series } = await heldSeries(symbols, flags, warn)
  const { json, table } = statsReport(
    mirror,
    series.map(one => statsOf(mirror, one)),
  )
  return { json, text: () => (flags.format === 'csv' ? tableCsv(table) : tableText(table)), exitCode: ExitCode.Done }
}

function statsOf(mirror: Mirror, series: Series) {
  const builder = new StatsBuilder(series)
  for (const startDate of mirror.heldStartDates(series)) {
    const batch = mirror.readBriefly({ ...series, startDate })
    if (batch instanceof KlinesError)
      throw new KlinesError('incomplete', `Broken in the mirror: ${withoutStop(batch.message)}.`)
    if (batch) builder.add(batch)
  }
  return builder.result
}

/** The series that are meant; each has to be held. */
async function heldSeries(
  symbols: string[],
  flags: HeldFlags,
  warn: RunContext['warn'],
): Promise<{ mirror: Mirror; series: Series[] }> {
  const options = { baseUrl: namedEndpoint(flags['base-url']).baseUrl, mirror: flags.mirror, warn }
  const source = openMirrorSource(options)
  // From the environment oclif gives a flag that may be repeated as one text.
  const selection = parseSelection(symbols, [flags.interval].flat())
  const series = await source.series(selection)
  // What stands for "all" is held.
  const isNamed = selection.symbols !== 'all' && selection.intervals !== 'all'
  const absent = isNamed ? series.filter(one => !source.holds(one)) : []
  if (absent.length === 0) return { mirror: openMirror(options), series }
  throw new KlinesError('window_missing', `Not in the mirror: ${absent.map(seriesName).join(', ')}.`, {
    suggestions: [source.advice],
  })
}
