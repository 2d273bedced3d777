import { joinNames } from '../../engine/errors.js'
import type { Difference, SideName } from '../../identity/compare-candles.js'
import { type ComparedSeries, type Diff, listDifferences } from '../../identity/diff.js'
import type { DiffSide } from '../../identity/sides.js'
import { seriesName, windowName } from '../../klines/series.js'
import { formatCount, plural } from '../../klines/text.js'
import { exactTime, printable } from '../terminal/text.js'
import { describeCell } from './changes.js'
import { coverageObject, coverageText } from './coverage.js'
import { rangeObject, type StreamedReport, sum } from './report.js'
import type { DiffObject } from './schema.js'

/** Differences of a series that are shown without `-v`. */
export const MAX_LISTED = 20

/** `incomplete`: what can be compared is equal, and windows are missing. `empty`: no side has a candle. */
export type DiffVerdict = 'equal' | 'different' | 'incomplete' | 'empty'

/** What a comparison has found. */
export interface DiffReport extends StreamedReport {
  readonly verdict: DiffVerdict
}

/** The differences of a series, some at once. */
type Listing = (series: ComparedSeries) => AsyncIterable<readonly Difference[]>

/** `diff`: the verdict first. `verbose`: with all differences, for which both sides are read again. */
export function diffReport(diff: Diff, found: readonly ComparedSeries[], verbose: boolean): DiffReport {
  const verdict = judge(found)
  const list: Listing = async function* (series) {
    if (verbose && series.total > series.differences.length) yield* listDifferences(diff, series)
    else yield series.differences
  }
  return {
    verdict,
    text: () => diffText(diff, found, { verdict, verbose, list }),
    json: warnings => diffJson(toObject(diff, found, verdict, verbose), warnings, found, list),
  }
}

function judge(found: readonly ComparedSeries[]): DiffVerdict {
  if (found.some(({ total }) => total > 0)) return 'different'
  if (found.some(({ failures }) => failures.a.length + failures.b.length > 0)) return 'incomplete'
  return found.every(({ both }) => both === 0) ? 'empty' : 'equal'
}

async function* diffText(
  diff: Diff,
  found: readonly ComparedSeries[],
  { verdict, verbose, list }: { verdict: DiffVerdict; verbose: boolean; list: Listing },
): AsyncGenerator<string> {
  const limited = diff.isLimited ? ', as far as the other side has candles' : ''
  const describeSide = ({ name, kind }: DiffSide) => `${printable(name)}${kind === 'service' ? limited : ''}`
  yield `${describeVerdict(found, verdict)}\nA: ${describeSide(diff.a)}\nB: ${describeSide(diff.b)}\n`
  if (verdict !== 'empty') {
    for (const side of ['a', 'b'] as const) yield coverageLines(diff, found, side, verbose)
  }
  for (const series of found) {
    if (series.total === 0) continue
    yield `\n${seriesName(series)}: ${describeCounts([series])}; ${plural(series.both, 'candle')} in both\n`
    for await (const differences of list(series))
      yield differenceLines(differences)
        .map(line => `${line}\n`)
        .join('')
    const more = series.total - series.differences.length
    if (more > 0 && !verbose) yield `  and ${formatCount(more)} more; -v lists all\n`
  }
  const lines = (['a', 'b'] as const).flatMap(side => failureLines(found, side, verbose))
  if (lines.length === 0) return
  const advice = 'Download them with klines download, or choose a range that both sides have with --from and --to.'
  yield ['', ...lines, advice, ''].join('\n')
}

/** What a side has less of than was requested; empty when all is there. */
function coverageLines(diff: Diff, found: readonly ComparedSeries[], side: SideName, verbose: boolean): string {
  const series = found.flatMap(({ symbol, interval, coverage: { [side]: coverage } }) => {
    return coverage ? [{ symbol, interval, coverage }] : []
  })
  const text = coverageText(series, { range: diff.range, baseUrl: diff[side].baseUrl, verbose })
  return text === undefined ? '' : `\n${side.toUpperCase()}: ${text}\n`
}

function describeVerdict(found: readonly ComparedSeries[], verdict: DiffVerdict): string {
  const all = `${plural(found.length, 'series')}, ${plural(sum(found.map(({ both }) => both)), 'candle')}`
  const missing = (['a', 'b'] as const).flatMap(side => describeMissing(found, side))
  if (verdict === 'equal') return `Equal: ${all}`
  if (verdict === 'empty') return `No candles: neither side has one of ${joinNames(found.map(seriesName))} in the range`
  if (verdict === 'incomplete') {
    const isCompared = found.some(({ both }) => both > 0)
    return `Incomplete: ${missing.join(', ')}; ${isCompared ? `all else is equal: ${all}` : 'nothing could be compared'}`
  }
  const differing = found.filter(({ total }) => total > 0)
  const series = `${formatCount(differing.length)} of ${plural(found.length, 'series')}`
  return `Different: ${[series, describeCounts(differing), ...missing].join(', ')}; ${all.replace(/^.*, /, '')} in both`
}

/** `20 cells in 18 candles, 2 candles only in A` */
function describeCounts(series: readonly ComparedSeries[]): string {
  const count = (key: 'changedCells' | 'changedCandles' | 'onlyInA' | 'onlyInB') => sum(series.map(one => one[key]))
  const [cells, onlyInA, onlyInB] = [count('changedCells'), count('onlyInA'), count('onlyInB')]
  return [
    ...(cells > 0 ? [`${plural(cells, 'cell')} in ${plural(count('changedCandles'), 'candle')}`] : []),
    ...(onlyInA > 0 ? [`${plural(onlyInA, 'candle')} only in A`] : []),
    ...(onlyInB > 0 ? [`${plural(onlyInB, 'candle')} only in B`] : []),
  ].join(', ')
}

function describeMissing(found: readonly ComparedSeries[], side: SideName): string[] {
  const failures = found.flatMap(series => series.failures[side])
  if (failures.length === 0) return []
  const fault = failures.every(({ reason }) => reason.startsWith('corrupt')) ? 'corrupt' : 'missing'
  const isMixed = fault === 'missing' && failures.some(({ reason }) => reason.startsWith('corrupt'))
  return [`${plural(failures.length, 'window')} ${isMixed ? 'missing or corrupt' : fault} in ${side.toUpperCase()}`]
}

/** A line for each candle with its cells, and one for candles that only one side has. */
function differenceLines(differences: readonly Difference[]): string[] {
  const lines: string[] = []
  let candle: number | undefined
  for (const difference of differences) {
    if (difference.kind === 'cell') {
      if (difference.openTime !== candle) lines.push(`  ${exactTime(difference.openTime)}`)
      candle = difference.openTime
      lines.push(`    ${describeCell(difference)}`)
    } else lines.push(`  ${describeOnly(difference)}`)
  }
  return lines
}

/** `2024-05-01 00:00 to 2024-05-01 05:00: 6 candles only in A, after the last one of B` */
function describeOnly({ side, position, firstOpenTime, lastOpenTime, candles }: Difference & { kind: 'only' }): string {
  const times = [...new Set([firstOpenTime, lastOpenTime])].map(exactTime).join(' to ')
  const other = side === 'a' ? 'B' : 'A'
  const place = { before: `, before the first one of ${other}`, inside: '', after: `, after the last one of ${other}` }
  return `${times}: ${plural(candles, 'candle')} only in ${side.toUpperCase()}${place[position]}`
}

/** The windows of a side that could not be compared: a line for each reason, with `verbose` one for each window. */
function failureLines(found: readonly ComparedSeries[], side: SideName, verbose: boolean): string[] {
  const failures = found.flatMap(series => series.failures[side])
  const reasons = new Map<string, string[]>()
  for (const { window, reason } of failures) {
    const key = verbose ? windowName(window) : reason
    reasons.set(key, [...(reasons.get(key) ?? []), verbose ? reason : windowName(window)])
  }
  const name = side.toUpperCase()
  if (verbose) return [...reasons].map(([window, [reason]]) => `${name}: ${window}: ${printable(reason)}`)
  return [...reasons].map(([reason, names]) => {
    // What is corrupt names its window.
    if (reason.includes(names[0])) return `${name}: ${printable(reason)}`
    return `${name}: ${plural(names.length, 'window')} ${printable(reason)}: ${joinNames(names)}`
  })
}

/** All but the differences and the warnings. */
function toObject(
  { a, b, range }: Diff,
  found: readonly ComparedSeries[],
  verdict: DiffVerdict,
  verbose: boolean,
): Omit<DiffObject, 'differences' | 'warnings'> {
  const side = ({ name, kind }: DiffSide) => ({ name, kind })
  return {
    verdict,
    a: side(a),
    b: side(b),
    range: rangeObject(range),
    series: found.map(({ differences: _, failures, coverage: { a, b }, ...counts }) => ({
      ...counts,
      coverage: { a: a ? coverageObject(a) : null, b: b ? coverageObject(b) : null },
      failures: (['a', 'b'] as const).flatMap(name =>
        failures[name].map(({ window, reason }) => ({ side: name, startDate: window.startDate, reason })),
      ),
    })),
    isWhole: verbose || found.every(({ differences, total }) => differences.length === total),
  }
}

/** The object in pieces, with a line for each difference: there may be more than memory holds. */
async function* diffJson(
  head: object,
  warnings: readonly string[],
  found: readonly ComparedSeries[],
  list: Listing,
): AsyncGenerator<string> {
  yield `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "differences": [`
  let separator = '\n    '
  for (const series of found) {
    for await (const differences of list(series)) {
      const lines = differences.map(difference => JSON.stringify(toDifferenceObject(series, difference)))
      if (lines.length === 0) continue
      yield separator + lines.join(',\n    ')
      separator = ',\n    '
    }
  }
  yield `\n  ],\n  "warnings": ${JSON.stringify(warnings)}\n}\n`
}

function toDifferenceObject(
  { symbol, interval }: ComparedSeries,
  difference: Difference,
): DiffObject['differences'][number] {
  if (difference.kind === 'only') return { symbol, interval, ...difference }
  const { kind, openTime, column, before, after } = difference
  return { symbol, interval, kind, openTime, column, a: before ?? '', b: after ?? '' }
}
