import { marketOf } from '../../candles/base-url.js'
import { COLUMN_KINDS, COLUMNS } from '../../candles/columns.js'
import { seriesName as nameOf, type Series } from '../../candles/series.js'
import { firstLines, formatCount, formatDuration, plural } from '../../candles/text.js'
import { formatDate, windowSpan } from '../../candles/windows.js'
import { coverageText, seriesName, sum, sumOf } from '../../cli/fields.js'
import { column, count, type TextFlags, text, textOf, time } from '../../cli/report.js'
import { textTable } from '../../cli/terminal/table.js'
import { candleName, exactTime, printable } from '../../cli/terminal/text.js'
import { joinNames } from '../../mirror/errors.js'
import type { CandleDifference, JudgedSeries, Outage } from '../../verify/verdict.js'
import type { VerificationReport } from '../../verify/verify.js'

/** What is shown one by one; of more outages the longest, of more successive windows the ends, of more faults of a series the first. */
const [MAX_OUTAGES, MAX_SUCCESSIVE, MAX_FAULTS] = [10, 6, 20]

function counted(head: string, of: (series: JudgedSeries) => number) {
  return { ...column(head, count()), of }
}

/** The columns of a table of series: `-f csv` has all of them. */
export const SERIES = {
  ...seriesName,
  windows: column('windows', count()),
  missingWindows: counted('missing windows', ({ missingWindows }) => missingWindows.length),
  corrupt: counted('corrupt windows', ({ corrupt }) => corrupt.length),
  candles: column('candles', count()),
  firstOpenTime: column('first (UTC)', time()),
  lastOpenTime: column('last (UTC)', time()),
  gaps: counted('gaps', ({ gaps }) => gaps.length),
  missing: column('missing candles', count()),
  early: counted('early close', ({ counts }) => counts.earlyClose),
  withoutTrades: counted('no trade', ({ counts }) => counts.zeroTrades),
  invalid: counted('invalid', ({ counts }) => counts.invalid),
  differing: counted('different', ({ differing }) => differing),
  notes: column('notes', count()),
  unverified: column('unverified', count()),
}

/** `ALL`: the columns with `-v`. */
const { windows, missingWindows, corrupt, missing, invalid, differing, notes, ...ALL } = SERIES
/** Those of the failing series that are not 0 for all of them. */
const FAULTS = {
  ...{ missingWindows, corrupt, differing, invalid },
  gaps: counted('gaps', ({ failingGaps }) => failingGaps),
  short: counted('short', ({ short }) => short),
}

/** The verdict first, then what fails, the outages of the exchange, and the notes; with `-v` all series and what is odd about them. */
export function verifyText(result: VerificationReport, { verbose = false }: TextFlags): string {
  const { series, range, baseUrl, faults, sums } = result
  const failing = series.filter(({ isFailing }) => isFailing)
  const [differing, noted] = [false, true].map(isNote => faults.filter(({ note }) => (note !== undefined) === isNote))
  // Of a million lines of a series, nobody reads more than the first ones.
  const listed = (all: readonly JudgedSeries[], linesOf: (one: JudgedSeries) => string[]) =>
    all.flatMap(one => firstLines(linesOf(one), verbose ? Infinity : MAX_FAULTS, 'more (-v lists them)'))
  const differences = (all: readonly CandleDifference[]) =>
    listed(series, one => all.filter(candle => nameOf(candle) === nameOf(one)).map(describeDifference))
  const lists: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Missing windows:', failing.flatMap(missingLines)],
    [
      'Corrupt windows:',
      failing.flatMap(one => one.corrupt.map(({ startDate, reason }) => `${nameOf(one)} ${startDate}: ${reason}`)),
    ],
    ['Invalid candles (UTC):', listed(failing, one => candleLines(one, one.faults))],
    ['Candles that differ from their finer candles (UTC):', differences(differing)],
    outageTable(result, true, verbose),
    outageTable(result, false, verbose),
    ['Notes: close times that differ by 1 ms in candles that close early (UTC):', differences(noted)],
    ['Notes: candles that the exchange itself has off the grid (UTC):', series.flatMap(offGridLines)],
    ['All series, with candles that close early or have no trade:', verbose ? [textOf(ALL, series, 2)] : []],
    ['Gaps, early closes, candles off the grid and without trades (UTC):', verbose ? series.flatMap(oddityLines) : []],
  ]
  const sections = [
    verdictLine(result),
    failing.length > 0 && failingTable(failing),
    coverageText(series, { range, baseUrl, verbose }),
    ...lists.map(([title, lines]) => lines.length > 0 && [title, ...lines].join('\n')),
    ...sums.map(sumTable),
    closingLines(result),
  ]
  return sections.filter(Boolean).join('\n\n')
}

function verdictLine({ verdict, series, pairs, outages, failOnGaps }: VerificationReport): string {
  if (verdict === 'empty') return `NO CANDLES: ${plural(series.length, 'series')}, all of them empty`
  const failing = series.filter(({ isFailing }) => isFailing)
  const [short, notes] = [sumOf(series, 'short'), sumOf(series, 'notes')]
  const shared = outages.filter(({ isShared }) => isShared).length
  const good = [
    plural(sumOf(series, 'candles'), 'candle'),
    short > 0 && `${formatCount(short)} fewer than requested`,
    pairs.length > 0 && plural(sumOf(pairs, 'comparisons'), 'comparison'),
    shared > 0 && plural(shared, 'outage'),
    outages.length > shared && plural(outages.length - shared, 'gap'),
    notes > 0 && plural(notes, 'note'),
  ]
  const [missing, corrupt, differing, invalid, gaps] = Object.values(FAULTS).map(({ of }) => sum(failing.map(of)))
  // The noun stands with the first of two numbers.
  const many = (count: number, noun: string | undefined, what: string) =>
    count > 0 && `${noun ? plural(count, noun) : formatCount(count)} ${count === 1 ? 'is' : 'are'} ${what}`
  const bad = [
    differing > 0 && `${plural(differing, 'candle')} ${differing === 1 ? 'differs' : 'differ'}`,
    many(invalid, differing > 0 ? undefined : 'candle', 'invalid'),
    many(corrupt, 'window', 'corrupt'),
    many(missing, corrupt > 0 ? undefined : 'window', 'missing'),
    gaps > 0 && plural(gaps, 'gap'),
    failOnGaps && short > 0 && `${plural(short, 'candle')} fewer than requested`,
  ]
  const all = `${formatCount(series.length)} series`
  const isGood = verdict === 'ok' || verdict === 'short'
  const start = isGood ? `${all}, ` : `${formatCount(failing.length)} of ${all}: `
  return `${verdict.toUpperCase()}: ${start}${(isGood ? good : bad).filter(Boolean).join(', ')}`
}

function failingTable(failing: readonly JudgedSeries[]): string {
  const shown = Object.entries(FAULTS).filter(([, { of }]) => failing.some(one => of(one) > 0))
  return textOf({ ...seriesName, candles: SERIES.candles, ...Object.fromEntries(shown) }, failing, 2)
}

function missingLines({ missingWindows, ...series }: JudgedSeries): string[] {
  const runs: string[][] = []
  let next = ''
  for (const startDate of missingWindows) {
    if (startDate === next) runs.at(-1)?.push(startDate)
    else runs.push([startDate])
    next = formatDate(windowSpan({ interval: series.interval, startDate }).endTime)
  }
  const list = runs.flatMap(run =>
    run.length <= MAX_SUCCESSIVE ? run : `${run[0]} to ${run.at(-1)} (${formatCount(run.length)})`,
  )
  return list.length === 0 ? [] : [`${nameOf(series)}: ${list.join(', ')}`]
}

interface OddCandle {
  readonly openTime: number
  readonly description: string
}

function candleLines({ symbol, interval }: Series, odd: readonly OddCandle[]): string[] {
  return odd.map(({ openTime, description }) => `${candleName({ symbol, interval, openTime })}: ${description}`)
}

function describeDifference(difference: CandleDifference): string {
  const { column, value, expected, finer } = difference
  const [of, but] = column === undefined ? ['', 'but'] : [` ${column}`, 'expected']
  return `${candleName(difference)}${of}: ${value}, ${but} ${expected} (${finer.join(', ')})`
}

function offGridLines({ offGrid, counts, ...series }: JudgedSeries): string[] {
  const [first, last] = [offGrid.at(0), offGrid.at(-1)].map(candle => candle && exactTime(candle.openTime))
  return first ? [`${nameOf(series)}: ${plural(counts.offGrid, 'candle')}, ${first} to ${last}`] : []
}

/** The gaps of a series and its harmless oddities, in order of time. */
function oddityLines(series: JudgedSeries): string[] {
  const gaps = series.gaps.map(({ startTime, endTime, missing, outage }) => {
    const description = `${plural(missing, 'candle')} missing until ${exactTime(endTime)}`
    return { openTime: startTime, description: description + (outage ? ', an outage' : '') }
  })
  const withoutTrades = series.zeroTrades.map(({ startTime, endTime, candles }) => {
    const description = `${plural(candles, 'candle')} without a trade until ${exactTime(endTime)}`
    return { openTime: startTime, description }
  })
  const odd: OddCandle[] = [...gaps, ...series.offGrid, ...series.earlyClose, ...withoutTrades]
  const inOrder = odd.sort((a, b) => a.openTime - b.openTime)
  return candleLines(series, inOrder)
}

const lengthOf = ({ startTime, endTime }: Outage) => endTime - startTime

const OUTAGE = {
  startTime: column('start (UTC)', time()),
  length: { ...column('length', text(), (outage: Outage) => formatDuration(lengthOf(outage))), isNumber: true },
  series: column('series', text(), ({ series }: Outage) => describeSeries(series)),
}

/** The outages of the exchange (`isShared`), or gaps that only one symbol has: a title, and a table below it. */
function outageTable({ series, outages }: VerificationReport, isShared: boolean, verbose: boolean) {
  const chosen = outages.filter(outage => outage.isShared === isShared)
  const longest = chosen.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, verbose ? undefined : MAX_OUTAGES)
  const shown = chosen.filter(outage => longest.includes(outage))
  const isSingle = series.every(({ symbol }) => symbol === series[0].symbol)
  const gaps = isSingle ? 'Gaps, usually outages of the exchange' : 'Gaps of a single symbol'
  const more = shown.length < chosen.length ? `, the ${shown.length} longest (all with -v)` : ''
  const title = `${isShared ? 'Outages of the exchange' : gaps}: ${formatCount(chosen.length)}${more}`
  return [title, shown.length > 0 ? [textOf(OUTAGE, shown)] : []] as const
}

function describeSeries(series: readonly Series[]): string {
  const symbols = [...new Set(series.map(({ symbol }) => symbol))]
  if (symbols.length === 1) return `${symbols[0]} ${series.map(({ interval }) => interval).join(', ')}`
  return `${formatCount(series.length)} series of ${joinNames(symbols)}`
}

/** The cells of a candle beside those of the sum of its finer ones. */
function sumTable(candle: VerificationReport['sums'][number]): string {
  const { cells, finer } = candle
  const show = (text: string, index: number) =>
    COLUMN_KINDS[index] === 'time' ? exactTime(Number(text)) : printable(text)
  const rows = COLUMNS.map((column, index) => {
    const sum = finer ? [show(finer.cells[index], index), finer.differing.includes(column) ? '!=' : ''] : []
    return [column, show(cells[index], index), ...sum]
  })
  const head = ['', 'candle', ...(finer ? [`sum of ${finer.candles} x ${finer.interval}`, ''] : [])]
  return `${candleName(candle)} (UTC):\n${textTable({ head, rows })}`
}

/** What to do, what was not compared, and what was checked. */
function closingLines({ series, range, mirror, verdict, baseUrl }: VerificationReport): string {
  const failing = series.filter(({ isFailing }) => isFailing && (verdict === 'failed' || verdict === 'incomplete'))
  const unverified = sumOf(series, 'unverified')
  const time = (value: number, open: string) => (Number.isFinite(value) ? exactTime(value) : open)
  const isNamed = range.named.from !== undefined || range.named.to !== undefined
  const isOffGrid = series.some(({ counts }) => counts.offGrid > 0)
  const reason = isOffGrid ? 'off the grid or without finer candles' : 'because no finer candles are cached'
  const lines = [
    failing.some(({ missingWindows, corrupt }) => missingWindows.length + corrupt.length > 0) &&
      'klines download downloads missing and corrupt windows.',
    failing.some(({ differing, counts }) => differing + counts.invalid > 0) &&
      'klines download --refresh downloads every window of a series again.',
    unverified > 0 &&
      `Not compared, ${reason}: ${formatCount(unverified)} of ${plural(sumOf(series, 'candles'), 'candle')}`,
    marketOf(baseUrl)?.isPrice &&
      'Only prices and times are compared: the volumes and counts of these candles mean nothing.',
    isNamed && `Range: ${time(range.fromTime, 'the beginning')} to ${time(range.toTime, 'now')} (UTC)`,
    `Mirror: ${mirror}`,
  ]
  return lines.filter(Boolean).join('\n')
}
