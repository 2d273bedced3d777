import { withoutStop } from '../../download/errors.js'
import { openMirror, openMirrorSource } from '../../download/open-source.js'
import { parseSelection } from '../../download/selection.js'
import { StatsBuilder } from '../../klines/audit/stats.js'
import { KlinesError } from '../../klines/errors.js'
import { type Series, seriesName } from '../../klines/series.js'
import type { Mirror } from '../../mirror/mirror.js'
import { verifyKlines } from '../../verify/verify.js'
import type { RunContext } from '../base-command.js'
import { offlineEndpoint } from '../endpoint.js'
import { ExitCode } from '../exit-codes.js'
import { statsReport } from '../reports/stats.js'
import { verifyReport } from '../reports/verify.js'
import { showCount } from '../terminal/progress.js'
import { tableCsv, tableText } from '../terminal/table.js'

/** What the flags of `verify` and `stats` say. */
export interface MirrorFlags {
  interval: string[]
  'base-url'?: string | undefined
  mirror?: string | undefined
  format?: string | undefined
  verbose: boolean
}

/** What there is to show. */
export interface MirrorReport {
  readonly json: object
  readonly text: () => string
  readonly exitCode: ExitCode
}

/** `verify`: exit code 6 when something is wrong, or with `fail-on-gaps` missing. */
export async function verifyKlinesJob(
  symbols: string[],
  flags: MirrorFlags & { audit: boolean; 'fail-on-gaps': boolean },
  { signal, progressStyle, warn }: RunContext,
): Promise<MirrorReport> {
  const { mirror, series } = await cachedSeries(symbols, flags, warn)
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
export async function statsJob(symbols: string[], flags: MirrorFlags, { warn }: RunContext): Promise<MirrorReport> {
  const { mirror, series } = await cachedSeries(symbols, flags, warn)
  const { json, table } = statsReport(
    mirror,
    series.map(one => computeStats(mirror, one)),
  )
  return { json, text: () => (flags.format === 'csv' ? tableCsv(table) : tableText(table)), exitCode: ExitCode.Done }
}

function computeStats(mirror: Mirror, series: Series) {
  const builder = new StatsBuilder(series)
  for (const startDate of mirror.cachedStartDates(series)) {
    const read = mirror.borrowWindow({ ...series, startDate })
    if (read.state === 'corrupt')
      throw new KlinesError('incomplete', `Broken in the mirror: ${withoutStop(read.error.message)}.`)
    if (read.state === 'cached') builder.add(read.batch)
  }
  return builder.result
}

/** The series that are meant; each has to be held. */
async function cachedSeries(
  symbols: string[],
  flags: MirrorFlags,
  warn: RunContext['warn'],
): Promise<{ mirror: Mirror; series: Series[] }> {
  const options = { baseUrl: offlineEndpoint(flags['base-url']).baseUrl, mirror: flags.mirror, warn }
  const source = openMirrorSource(options)
  // From the environment oclif gives a flag that may be repeated as one text.
  const selection = parseSelection(symbols, [flags.interval].flat())
  const series = await source.series(selection)
  // What stands for "all" is held.
  const isNamed = selection.symbols !== 'all' && selection.intervals !== 'all'
  const absent = isNamed ? series.filter(one => !source.hasSeries(one)) : []
  if (absent.length === 0) return { mirror: openMirror(options), series }
  throw new KlinesError('window_missing', `Not in the mirror: ${absent.map(seriesName).join(', ')}.`, {
    suggestions: [source.advice],
  })
}
