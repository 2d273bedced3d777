import { seriesName as nameOf, windowName } from '../../candles/series.js'
import { formatCount, plural } from '../../candles/text.js'
import { coverage, coverageText, failure, range, seriesName, sumOf } from '../../cli/fields.js'
import type { Field, ObjectOf } from '../../cli/report.js'
import * as s from '../../cli/report.js'
import { describeCell, exactTime, printable } from '../../cli/terminal/text.js'
import type { Difference, SideName } from '../../identity/compare-candles.js'
import type { ComparedSeries, DiffReport as DiffResult } from '../../identity/diff.js'
import type { DiffSide } from '../../identity/sides.js'
import { joinNames } from '../../mirror/errors.js'

const SIDES = ['a', 'b'] as const

/** `incomplete`: what can be compared is equal, and windows are missing. `empty`: no side has a candle. */
export function judge({ series }: DiffResult): 'equal' | 'different' | 'incomplete' | 'empty' {
  if (series.some(({ total }) => total > 0)) return 'different'
  if (series.some(({ failures }) => failures.a.length + failures.b.length > 0)) return 'incomplete'
  return series.every(({ both }) => both === 0) ? 'empty' : 'equal'
}

const side = s.object({
  name: s.text('as it was named'),
  kind: s.oneOf(['file', 'mirror', 'service'], 'file: also a lake'),
})
const sideName = s.oneOf(SIDES)

const series = s.object({
  ...seriesName,
  both: s.count('candles that both sides have'),
  changedCandles: s.count(),
  changedCells: s.count(),
  onlyInA: s.count('candles that only side A has'),
  onlyInB: s.count('candles that only side B has'),
  beyond: s.count('of these, candles before the first or after the last one of the other side'),
  notCompared: s.count('candles in windows that the other side lacks'),
  total: s.count('differences, of which consecutive candles of one side are one'),
  coverage: s.object(
    { a: s.maybe(coverage), b: s.maybe(coverage) },
    'of each side; null for a file, and for a range without a named end',
  ),
  failures: s.derived(
    s.list(s.object({ side: sideName, ...failure }), 'windows that are missing or corrupt'),
    ({ failures }: ComparedSeries) => SIDES.flatMap(side => failures[side].map(one => ({ side, ...one }))),
  ),
})

/** All but the differences, of which there may be more than memory holds. */
const head = {
  verdict: s.derived(
    s.oneOf(
      ['equal', 'different', 'incomplete', 'empty'],
      'incomplete: windows are missing, and all else is equal; empty: neither side has a candle in the range',
    ),
    judge,
  ),
  a: side,
  b: side,
  range,
  series: s.list(series),
  isWhole: s.derived(
    s.flag('whether all differences are listed, as with -v; else the first 20 a series'),
    ({ series }: DiffResult) => series.every(({ differences, total }) => differences.length === total),
  ),
}

const cell = {
  ...seriesName,
  kind: s.oneOf(['cell']),
  openTime: s.integer(),
  column: s.text(),
  a: s.derived(s.text(), ({ before }: Difference & { kind: 'cell' }) => before ?? ''),
  b: s.derived(s.text(), ({ after }: Difference & { kind: 'cell' }) => after ?? ''),
}
const only = {
  ...seriesName,
  kind: s.oneOf(['only']),
  side: sideName,
  position: s.oneOf(['before', 'inside', 'after'], 'before the first or after the last candle of the other side'),
  firstOpenTime: s.integer(),
  lastOpenTime: s.integer(),
  candles: s.count('all from the first to the last one'),
}
const difference: Field<ObjectOf<typeof cell> | ObjectOf<typeof only>> = {
  schema: { anyOf: [s.object(cell).schema, s.object(only).schema] },
  json: (one: Difference) => s.jsonOf(one.kind === 'cell' ? cell : only, one),
}

/** `diff`: the verdict first, then what differs, series by series. */
export const DiffReport = s.report(
  'klines-diff',
  {
    ...head,
    differences: s.derived(s.list(difference, 'of each series in order of time'), ({ series }: DiffResult) =>
      series.flatMap(({ symbol, interval, differences }) => differences.map(one => ({ ...one, symbol, interval }))),
    ),
  },
  (result: DiffResult, { verbose = false }) => {
    const { series, range } = result
    const isLimited = range.fromTime === -Infinity || range.toTime === Infinity
    const describeSide = ({ name, kind }: DiffSide) => {
      return printable(name) + (isLimited && kind === 'service' ? ', as far as the other side has candles' : '')
    }
    const lines = [describeVerdict(result), `A: ${describeSide(result.a)}`, `B: ${describeSide(result.b)}`]
    for (const side of judge(result) === 'empty' ? [] : SIDES) {
      const covered = series.flatMap(({ symbol, interval, coverage: { [side]: coverage } }) => {
        return coverage ? [{ symbol, interval, coverage }] : []
      })
      const short = coverageText(covered, { range, baseUrl: result[side].baseUrl, verbose })
      if (short !== undefined) lines.push('', `${side.toUpperCase()}: ${short}`)
    }
    for (const one of series.filter(({ total }) => total > 0)) {
      const more = one.total - one.differences.length
      lines.push('', `${nameOf(one)}: ${describeCounts([one])}; ${plural(one.both, 'candle')} in both`)
      lines.push(...one.differences.flatMap(describeDifference))
      if (more > 0) lines.push(`  and ${formatCount(more)} more; -v lists all`)
    }
    const failures = SIDES.flatMap(side => failureLines(series, side))
    const advice = 'Download them with klines download, or choose a range that both sides have with --from and --to.'
    return [...lines, ...(failures.length > 0 ? ['', ...failures, advice] : [])].join('\n')
  },
)

/** A candle that differs is named above the first of its cells. */
function describeDifference(one: Difference, index: number, all: readonly Difference[]): string[] {
  if (one.kind === 'only') return [`  ${describeOnly(one)}`]
  const before = all[index - 1]
  const isFirst = before?.kind !== 'cell' || before.openTime !== one.openTime
  return [...(isFirst ? [`  ${exactTime(one.openTime)}`] : []), `    ${describeCell(one)}`]
}

function describeVerdict(result: DiffResult): string {
  const { series } = result
  const verdict = judge(result)
  const candles = plural(sumOf(series, 'both'), 'candle')
  const all = `${plural(series.length, 'series')}, ${candles}`
  const missing = SIDES.flatMap(side => describeMissing(series, side))
  if (verdict === 'equal') return `Equal: ${all}`
  if (verdict === 'empty') return `No candles: neither side has one of ${joinNames(series.map(nameOf))} in the range`
  if (verdict === 'incomplete') {
    const isCompared = series.some(({ both }) => both > 0)
    return `Incomplete: ${missing.join(', ')}; ${isCompared ? `all else is equal: ${all}` : 'nothing could be compared'}`
  }
  const differing = series.filter(({ total }) => total > 0)
  const count = `${formatCount(differing.length)} of ${plural(series.length, 'series')}`
  return `Different: ${[count, describeCounts(differing), ...missing].join(', ')}; ${candles} in both`
}

/** `20 cells in 18 candles, 2 candles only in A` */
function describeCounts(series: readonly ComparedSeries[]): string {
  const [cells, onlyInA, onlyInB] = [sumOf(series, 'changedCells'), sumOf(series, 'onlyInA'), sumOf(series, 'onlyInB')]
  const parts = [
    cells > 0 && `${plural(cells, 'cell')} in ${plural(sumOf(series, 'changedCandles'), 'candle')}`,
    onlyInA > 0 && `${plural(onlyInA, 'candle')} only in A`,
    onlyInB > 0 && `${plural(onlyInB, 'candle')} only in B`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** `2 windows missing or corrupt in A` */
function describeMissing(series: readonly ComparedSeries[], side: SideName): string[] {
  const failures = series.flatMap(({ failures }) => failures[side])
  if (failures.length === 0) return []
  const corrupt = failures.filter(({ reason }) => reason.startsWith('corrupt')).length
  const fault = corrupt === failures.length ? 'corrupt' : corrupt > 0 ? 'missing or corrupt' : 'missing'
  return [`${plural(failures.length, 'window')} ${fault} in ${side.toUpperCase()}`]
}

/** `2024-05-01 00:00 to 2024-05-01 05:00: 6 candles only in A, after the last one of B` */
function describeOnly({ side, position, firstOpenTime, lastOpenTime, candles }: Difference & { kind: 'only' }): string {
  const times = [...new Set([firstOpenTime, lastOpenTime])].map(exactTime).join(' to ')
  const other = side === 'a' ? 'B' : 'A'
  const place = { before: `, before the first one of ${other}`, inside: '', after: `, after the last one of ${other}` }
  return `${times}: ${plural(candles, 'candle')} only in ${side.toUpperCase()}${place[position]}`
}

/** The windows of a side that could not be compared: a line for each reason. */
function failureLines(series: readonly ComparedSeries[], side: SideName): string[] {
  const reasons = new Map<string, string[]>()
  for (const { window, reason } of series.flatMap(({ failures }) => failures[side]))
    reasons.set(reason, [...(reasons.get(reason) ?? []), windowName(window)])
  return [...reasons].map(([reason, names]) => {
    return `${side.toUpperCase()}: ${plural(names.length, 'window')} ${printable(reason)}: ${joinNames(names)}`
  })
}
