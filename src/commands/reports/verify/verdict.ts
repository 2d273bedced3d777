import { sum } from '../../../cli/reports/fields.js'
import { formatCount, plural } from '../../../klines/text.js'
import type { VerificationReport } from '../../../verify/verify.js'

/** The first line of the report: the verdict, and why. */
export function verdictLine({ verdict, series, pairs, outages, failOnGaps }: VerificationReport): string {
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
