import { formatCount, plural, quoteWord } from '../../../candles/text.js'
import type { TextFlags } from '../../../cli/report.js'
import { coverageText } from '../../../cli/reports/coverage.js'
import { sum, sumOf } from '../../../cli/reports/fields.js'
import { exactTime } from '../../../cli/terminal/text.js'
import { PUBLIC_BASE_URL } from '../../../sources/base-url.js'
import type { VerificationReport } from '../../../verify/verify.js'
import {
  corruptLines,
  describeDifference,
  invalidLines,
  missingLines,
  oddityLines,
  offGridLines,
  repairLines,
} from './findings.js'
import { failingTable, outageSections, pairTable, seriesTable, sumTable } from './tables.js'

/** How a verification is shown. `mirror`: the flag, which a repair needs too. */
interface VerifyFlags extends TextFlags {
  readonly mirror?: string | undefined
}

export function verifyText(result: VerificationReport, flags: VerifyFlags): string {
  const { series, pairs, range, baseUrl, outages, sums } = result
  const { verbose = false } = flags
  const failing = series.filter(({ isFailing }) => isFailing)
  const symbols = new Set(series.map(({ symbol }) => symbol)).size
  const faults = result.faults.filter(({ note }) => note === undefined)
  const notes = result.faults.filter(({ note }) => note !== undefined)
  const sections = [
    verdictLine(result),
    failing.length > 0 && failingTable(failing),
    coverageText(series, { range, baseUrl, verbose }),
    titled('Missing windows:', missingLines(failing, verbose)),
    titled('Corrupt windows:', corruptLines(failing)),
    titled('Invalid candles (UTC):', failing.flatMap(invalidLines)),
    titled('Candles that differ from their finer candles (UTC):', faults.flatMap(describeDifference)),
    ...outageSections(outages, symbols, verbose),
    titled(
      'Notes: close times that differ by 1 ms in candles that close early (UTC):',
      notes.flatMap(describeDifference),
    ),
    titled('Notes: candles that the exchange itself has off the grid (UTC):', series.flatMap(offGridLines)),
    verbose && `All series, with candles that close early or have no trade:\n${seriesTable(series)}`,
    verbose &&
      titled('Gaps, early closes, candles off the grid and without trades (UTC):', series.flatMap(oddityLines)),
    verbose && pairs.length > 0 && `Comparisons with finer candles:\n${pairTable(pairs)}`,
    ...sums.map(sumTable),
    closingLines(result, flags).join('\n'),
  ]
  return sections.filter(Boolean).join('\n\n')
}

function titled(title: string, lines: readonly string[]): string | undefined {
  return lines.length > 0 ? [title, ...lines].join('\n') : undefined
}

function closingLines(result: VerificationReport, flags: VerifyFlags): string[] {
  const { series, range, mirror, verdict } = result
  const failing = series.filter(({ isFailing }) => isFailing)
  const { from, to } = range.named
  const unverified = sumOf(series, 'unverified')
  const time = (value: number, open: string) => (Number.isFinite(value) ? exactTime(value) : open)
  const lines = [`Mirror: ${mirror}`]
  if (from !== undefined || to !== undefined)
    lines.unshift(`Range: ${time(range.fromTime, 'the beginning')} to ${time(range.toTime, 'now')} (UTC)`)
  if (unverified > 0) {
    const isOffGrid = series.some(report => report.counts.old_off_grid > 0)
    const reason = isOffGrid ? 'off the grid or without finer candles' : 'because no finer candles are cached'
    const candles = plural(sumOf(series, 'candles'), 'candle')
    lines.unshift(`Not compared, ${reason}: ${formatCount(unverified)} of ${candles}`)
  }
  if (verdict === 'ok' || verdict === 'short') return lines
  lines.unshift(...repairLines(result, locationFlags(result, flags)))
  const isRepairable = failing.some(({ missingWindows, corrupt }) => missingWindows.length + corrupt.length > 0)
  const differs = failing.some(({ differing, invalid }) => differing + invalid > 0)
  if (differs) lines.unshift('klines download --refresh downloads every window of a series again.')
  if (isRepairable) lines.unshift('klines download downloads missing and corrupt windows.')
  return lines
}

/** The flags for a download into the mirror, each after a space. A base address that is not the default one names it, too. */
function locationFlags({ baseUrl }: VerificationReport, { mirror }: VerifyFlags): string {
  const source = baseUrl === undefined || baseUrl === PUBLIC_BASE_URL ? '' : ` --base-url ${quoteWord(baseUrl)}`
  return mirror === undefined ? source : `${source} --mirror ${quoteWord(mirror)}`
}

/** The first line of the report: the verdict, and why. */
function verdictLine({ verdict, series, pairs, outages, failOnGaps }: VerificationReport): string {
  const failing = series.filter(({ isFailing }) => isFailing)
  if (verdict === 'empty') return `NO CANDLES: ${plural(series.length, 'series')}, all of them empty`
  const short = sum(series.map(one => one.short))
  if (verdict !== 'ok' && verdict !== 'short') {
    const count = (name: 'differing' | 'invalid' | 'failingGaps') => sum(failing.map(one => one[name]))
    const [differing, invalid, gaps] = [count('differing'), count('invalid'), count('failingGaps')]
    const corrupt = sum(failing.map(one => one.corrupt.length))
    const missing = sum(failing.map(one => one.missingWindows.length))
    const reasons = [
      differing > 0 && `${plural(differing, 'candle')} ${differing === 1 ? 'differs' : 'differ'}`,
      invalid > 0 && `${differing > 0 ? formatCount(invalid) : plural(invalid, 'candle')} ${isOrAre(invalid)} invalid`,
      corrupt > 0 && `${plural(corrupt, 'window')} ${isOrAre(corrupt)} corrupt`,
      missing > 0 && `${corrupt > 0 ? formatCount(missing) : plural(missing, 'window')} ${isOrAre(missing)} missing`,
      gaps > 0 && plural(gaps, 'gap'),
      failOnGaps && short > 0 && `${plural(short, 'candle')} fewer than requested`,
    ]
    const of = `${formatCount(failing.length)} of ${formatCount(series.length)} series`
    return `${verdict.toUpperCase()}: ${of}: ${reasons.filter(Boolean).join(', ')}`
  }
  const shared = outages.filter(({ isShared }) => isShared).length
  const gaps = outages.length - shared
  const notes = sum(series.map(one => one.notes))
  const facts = [
    `${formatCount(series.length)} series`,
    plural(sum(series.map(report => report.candles)), 'candle'),
    short > 0 && `${formatCount(short)} fewer than requested`,
    pairs.length > 0 && plural(sum(pairs.map(pair => pair.comparisons)), 'comparison'),
    shared > 0 && plural(shared, 'outage'),
    gaps > 0 && plural(gaps, 'gap'),
    notes > 0 && plural(notes, 'note'),
  ]
  return `${verdict.toUpperCase()}: ${facts.filter(Boolean).join(', ')}`
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}
