import { seriesName as nameOf, windowName } from '../../candles/series.js'
import { formatCount, plural } from '../../candles/text.js'
import { coverage, coverageText, failure, range, seriesName, sumOf } from '../../cli/fields.js'
import type { Field, ObjectOf } from '../../cli/report.js'
import * as s from '../../cli/report.js'
import { describeCell, exactTime } from '../../cli/terminal/text.js'
import type { SideName } from '../../identity/compare-candles.js'
import type { ComparedSeries, DiffReport as DiffResult } from '../../identity/diff.js'
import { joinNames } from '../../mirror/errors.js'
import { shortSentences } from '../../rows/coverage.js'

type Difference = DiffResult['differences'][number]

const SIDES = ['a', 'b'] as const
const side = s.object({
  name: s.text('as it was named'),
  kind: s.oneOf(['file', 'mirror', 'service'], 'file: also a lake'),
  asked: s.optional(s.count('windows that a service was asked for, also those that its mirror has')),
})
const sideName = s.oneOf(SIDES)

const series = s.object({
  ...seriesName,
  both: s.count('candles that both sides have'),
  changedCandles: s.count(),
  changedCells: s.count(),
  onlyInA: s.count('candles that only side A has'),
  onlyInB: s.count('candles that only side B has'),
  notCompared: s.count('candles in windows that the other side lacks'),
  total: s.count('differences, of which consecutive candles of one side are one'),
  coverage: s.object(
    { a: s.maybe(coverage), b: s.maybe(coverage) },
    'of each side; null for a range without a named end',
  ),
  failures: s.list(s.object({ side: sideName, ...failure }), 'windows that are missing or corrupt'),
})

const kind = s.oneOf(['cell'])
const cell = { ...seriesName, kind, openTime: s.integer(), column: s.text(), a: s.text(), b: s.text() }
const only = {
  ...seriesName,
  kind: s.oneOf(['only']),
  side: sideName,
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
    verdict: s.oneOf(
      ['equal', 'different', 'incomplete', 'empty'],
      'incomplete: windows are missing, and all else is equal; empty: neither side has a candle in the range',
    ),
    a: side,
    b: side,
    range,
    series: s.list(series),
    isWhole: s.flag('whether all differences are listed, as with -v; else the first 20 a series'),
    differences: s.list(difference, 'of each series in order of time'),
  },
  (result: DiffResult, { verbose = false }) => {
    const { verdict, series, range } = result
    const lines = [describeVerdict(result)]
    for (const side of SIDES) {
      const { name, asked } = result[side]
      lines.push(`${side.toUpperCase()}: ${name}${asked === undefined ? '' : `, asked for ${plural(asked, 'window')}`}`)
    }
    for (const side of verdict === 'empty' ? [] : SIDES) {
      const { kind, baseUrl } = result[side]
      const short = coverageText(coveredBy(series, side), { range, baseUrl, verbose, isFile: kind === 'file' })
      if (short !== undefined) lines.push('', `${side.toUpperCase()}: ${short}`)
    }
    for (const one of series.filter(({ total }) => total > 0)) {
      const listed = result.differences.filter(other => nameOf(other) === nameOf(one))
      lines.push('', `${nameOf(one)}: ${describeCounts([one])}; ${plural(one.both, 'candle')} in both`)
      lines.push(...listed.flatMap(describeDifference))
      if (listed.length < one.total) lines.push(`  and ${formatCount(one.total - listed.length)} more; -v lists all`)
    }
    const failures = SIDES.flatMap(side => failureLines(series, side))
    const advice = 'Download them with klines download, or choose a range that both sides have with --from and --to.'
    return [...lines, ...(failures.length > 0 ? ['', ...failures, advice] : [])].join('\n')
  },
  {
    lacks: ({ series, range }) =>
      SIDES.flatMap(side =>
        shortSentences(coveredBy(series, side), range).map(text => `${side.toUpperCase()}: ${text}`),
      ),
  },
)

function coveredBy(series: readonly ComparedSeries[], side: SideName) {
  return series.flatMap(({ symbol, interval, coverage: { [side]: coverage } }) => {
    return coverage ? [{ symbol, interval, coverage }] : []
  })
}

/** A candle that differs is named above the first of its cells. */
function describeDifference(one: Difference, index: number, all: readonly Difference[]): string[] {
  if (one.kind === 'only') return [`  ${describeOnly(one)}`]
  const before = all[index - 1]
  const isFirst = before?.kind !== 'cell' || before.openTime !== one.openTime
  const cell = describeCell({ column: one.column, before: one.a, after: one.b })
  return [...(isFirst ? [`  ${exactTime(one.openTime)}`] : []), `    ${cell}`]
}

function describeVerdict({ verdict, series }: DiffResult): string {
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
  const show = (key: 'changedCells' | 'onlyInA' | 'onlyInB', noun: string, where: string) =>
    sumOf(series, key) > 0 ? [`${plural(sumOf(series, key), noun)} ${where}`] : []
  return [
    ...show('changedCells', 'cell', `in ${plural(sumOf(series, 'changedCandles'), 'candle')}`),
    ...show('onlyInA', 'candle', 'only in A'),
    ...show('onlyInB', 'candle', 'only in B'),
  ].join(', ')
}

/** `2 windows missing or corrupt in A` */
function describeMissing(series: readonly ComparedSeries[], side: SideName): string[] {
  const failures = failuresOf(series, side)
  if (failures.length === 0) return []
  const faults = new Set(failures.map(({ reason }) => (reason.startsWith('corrupt') ? 'corrupt' : 'missing')))
  return [`${plural(failures.length, 'window')} ${[...faults].sort().reverse().join(' or ')} in ${side.toUpperCase()}`]
}

function failuresOf(series: readonly ComparedSeries[], side: SideName) {
  return series.flatMap(({ failures }) => failures).filter(failure => failure.side === side)
}

function describeOnly({ side, firstOpenTime, lastOpenTime, candles }: Difference & { kind: 'only' }): string {
  const times = [...new Set([firstOpenTime, lastOpenTime])].map(exactTime).join(' to ')
  return `${times}: ${plural(candles, 'candle')} only in ${side.toUpperCase()}`
}

/** The windows of a side that could not be compared: a line for each reason. */
function failureLines(series: readonly ComparedSeries[], side: SideName): string[] {
  const all = failuresOf(series, side)
  return [...new Set(all.map(({ reason }) => reason))].map(reason => {
    const names = all.filter(one => one.reason === reason).map(({ window }) => windowName(window))
    return `${side.toUpperCase()}: ${plural(names.length, 'window')} ${reason}: ${joinNames(names)}`
  })
}
