import { seriesName as nameOf, windowName } from '../../candles/series.js'
import { formatCount, plural } from '../../candles/text.js'
import { reportSchema } from '../../cli/report.js'
import { coverageText } from '../../cli/reports/coverage.js'
import { coverage, failure, range, seriesName, sumOf } from '../../cli/reports/fields.js'
import {
  count,
  derived,
  type Field,
  flag,
  integer,
  jsonOf,
  list,
  maybe,
  type ObjectOf,
  object,
  oneOf,
  text,
} from '../../cli/schema.js'
import { describeCell, exactTime, printable } from '../../cli/terminal/text.js'
import { joinNames } from '../../engine/errors.js'
import type { Difference, SideName } from '../../identity/compare-candles.js'
import { type ComparedSeries, type Diff, listDifferences } from '../../identity/diff.js'
import type { DiffSide } from '../../identity/sides.js'

const SIDES = ['a', 'b'] as const

/** What a comparison has found. */
export interface DiffResult extends Omit<Diff, 'series' | 'close'> {
  readonly diff: Diff
  readonly series: readonly ComparedSeries[]
  /** Whether all differences are listed: both sides are read again. */
  readonly verbose: boolean
}

/** `incomplete`: what can be compared is equal, and windows are missing. `empty`: no side has a candle. */
export function judge({ series }: DiffResult): 'equal' | 'different' | 'incomplete' | 'empty' {
  if (series.some(({ total }) => total > 0)) return 'different'
  if (series.some(({ failures }) => failures.a.length + failures.b.length > 0)) return 'incomplete'
  return series.every(({ both }) => both === 0) ? 'empty' : 'equal'
}

const side = object({ name: text('as it was named'), kind: oneOf(['file', 'mirror', 'service'], 'file: also a lake') })
const sideName = oneOf(SIDES)

const series = object({
  ...seriesName,
  both: count('candles that both sides have'),
  changedCandles: count(),
  changedCells: count(),
  onlyInA: count('candles that only side A has'),
  onlyInB: count('candles that only side B has'),
  beyond: count('of these, candles before the first or after the last one of the other side'),
  notCompared: count('candles in windows that the other side lacks'),
  total: count('differences, of which consecutive candles of one side are one'),
  coverage: object(
    { a: maybe(coverage), b: maybe(coverage) },
    'of each side; null for a file, and for a range without a named end',
  ),
  failures: derived(
    list(object({ side: sideName, ...failure }), 'windows that are missing or corrupt'),
    ({ failures }: ComparedSeries) => SIDES.flatMap(side => failures[side].map(one => ({ side, ...one }))),
  ),
})

/** All but the differences, of which there may be more than memory holds. */
const head = {
  verdict: derived(
    oneOf(
      ['equal', 'different', 'incomplete', 'empty'],
      'incomplete: windows are missing, and all else is equal; empty: neither side has a candle in the range',
    ),
    judge,
  ),
  a: side,
  b: side,
  range,
  series: list(series),
  isWhole: derived(
    flag('whether all differences are listed, as with -v; else the first 20 a series'),
    ({ verbose, series }: DiffResult) =>
      verbose || series.every(({ differences, total }) => differences.length === total),
  ),
}

const cell = {
  ...seriesName,
  kind: oneOf(['cell']),
  openTime: integer(),
  column: text(),
  a: derived(text(), ({ before }: Difference & { kind: 'cell' }) => before ?? ''),
  b: derived(text(), ({ after }: Difference & { kind: 'cell' }) => after ?? ''),
}
const only = {
  ...seriesName,
  kind: oneOf(['only']),
  side: sideName,
  position: oneOf(['before', 'inside', 'after'], 'before the first or after the last candle of the other side'),
  firstOpenTime: integer(),
  lastOpenTime: integer(),
  candles: count('all from the first to the last one'),
}
const difference: Field<ObjectOf<typeof cell> | ObjectOf<typeof only>> = {
  schema: { anyOf: [object(cell).schema, object(only).schema] },
}

export const DiffSchema = reportSchema('klines-diff', {
  ...head,
  differences: list(difference, 'of each series in order of time'),
})

/** The object of `--json` in pieces, with a line for each difference. */
export async function* diffJson(result: DiffResult, warnings: readonly string[]): AsyncGenerator<string> {
  yield `${JSON.stringify(jsonOf(head, result), null, 2).slice(0, -2)},\n  "differences": [`
  let separator = '\n    '
  for (const series of result.series) {
    for await (const differences of listAll(result, series)) {
      const lines = differences.map(one =>
        JSON.stringify(
          jsonOf(one.kind === 'cell' ? cell : only, { ...one, symbol: series.symbol, interval: series.interval }),
        ),
      )
      if (lines.length === 0) continue
      yield separator + lines.join(',\n    ')
      separator = ',\n    '
    }
  }
  yield `\n  ],\n  "warnings": ${JSON.stringify(warnings)}\n}\n`
}

/** The differences of a series, some at once. */
async function* listAll({ diff, verbose }: DiffResult, series: ComparedSeries): AsyncGenerator<readonly Difference[]> {
  if (verbose && series.total > series.differences.length) yield* listDifferences(diff, series)
  else yield series.differences
}

/** The text in pieces: the verdict first. */
export async function* diffText(result: DiffResult): AsyncGenerator<string> {
  const { a, b, isLimited, series, verbose } = result
  const limited = isLimited ? ', as far as the other side has candles' : ''
  const describeSide = ({ name, kind }: DiffSide) => `${printable(name)}${kind === 'service' ? limited : ''}`
  yield `${describeVerdict(result)}\nA: ${describeSide(a)}\nB: ${describeSide(b)}\n`
  if (judge(result) !== 'empty') for (const side of SIDES) yield coverageLines(result, side)
  for (const one of series) {
    if (one.total === 0) continue
    yield `\n${nameOf(one)}: ${describeCounts([one])}; ${plural(one.both, 'candle')} in both\n`
    for await (const differences of listAll(result, one))
      yield differenceLines(differences)
        .map(line => `${line}\n`)
        .join('')
    const more = one.total - one.differences.length
    if (more > 0 && !verbose) yield `  and ${formatCount(more)} more; -v lists all\n`
  }
  const lines = SIDES.flatMap(side => failureLines(result, side))
  if (lines.length === 0) return
  const advice = 'Download them with klines download, or choose a range that both sides have with --from and --to.'
  yield ['', ...lines, advice, ''].join('\n')
}

/** What a side has less of than was requested; empty when all is there. */
function coverageLines({ series, range, verbose, ...sides }: DiffResult, side: SideName): string {
  const covered = series.flatMap(({ symbol, interval, coverage: { [side]: coverage } }) => {
    return coverage ? [{ symbol, interval, coverage }] : []
  })
  const text = coverageText(covered, { range, baseUrl: sides[side].baseUrl, verbose })
  return text === undefined ? '' : `\n${side.toUpperCase()}: ${text}\n`
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
  return [
    ...(cells > 0 ? [`${plural(cells, 'cell')} in ${plural(sumOf(series, 'changedCandles'), 'candle')}`] : []),
    ...(onlyInA > 0 ? [`${plural(onlyInA, 'candle')} only in A`] : []),
    ...(onlyInB > 0 ? [`${plural(onlyInB, 'candle')} only in B`] : []),
  ].join(', ')
}

function describeMissing(series: readonly ComparedSeries[], side: SideName): string[] {
  const failures = series.flatMap(({ failures }) => failures[side])
  if (failures.length === 0) return []
  const corrupt = failures.filter(({ reason }) => reason.startsWith('corrupt')).length
  const fault = corrupt === failures.length ? 'corrupt' : corrupt > 0 ? 'missing or corrupt' : 'missing'
  return [`${plural(failures.length, 'window')} ${fault} in ${side.toUpperCase()}`]
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
function failureLines({ series, verbose }: DiffResult, side: SideName): string[] {
  const failures = series.flatMap(({ failures }) => failures[side])
  const name = side.toUpperCase()
  if (verbose) return failures.map(({ window, reason }) => `${name}: ${windowName(window)}: ${printable(reason)}`)
  const reasons = new Map<string, string[]>()
  for (const { window, reason } of failures) reasons.set(reason, [...(reasons.get(reason) ?? []), windowName(window)])
  return [...reasons].map(([reason, names]) => {
    // What is corrupt names its window.
    if (reason.includes(names[0])) return `${name}: ${printable(reason)}`
    return `${name}: ${plural(names.length, 'window')} ${printable(reason)}: ${joinNames(names)}`
  })
}
