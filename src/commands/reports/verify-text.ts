import { COLUMN_KINDS, COLUMNS } from '../../candles/columns.js'
import { type Series, seriesName } from '../../candles/series.js'
import { formatCount, formatTime, plural } from '../../candles/text.js'
import { formatDate, windowSpan } from '../../candles/windows.js'
import { coverageText, sum, sumOf } from '../../cli/fields.js'
import { column, count, day, type TextFlags, text, textOf } from '../../cli/report.js'
import { textTable } from '../../cli/terminal/table.js'
import { candleName, exactTime, formatDuration, printable, wrap } from '../../cli/terminal/text.js'
import type { CandleDifference, JudgedSeries, Outage } from '../../verify/verdict.js'
import type { VerificationReport } from '../../verify/verify.js'

/** What is shown one by one; of more outages the longest, of more symbols the number, of more successive windows the ends. */
const [MAX_OUTAGES, MAX_SYMBOLS, MAX_SUCCESSIVE] = [10, 3, 6]

/** The verdict first, then what fails, the outages of the exchange, and the notes; with `-v` all series and what is odd about them. */
export function verifyText(result: VerificationReport, { verbose = false }: TextFlags): string {
  const { series, range, baseUrl, faults, sums } = result
  const failing = series.filter(({ isFailing }) => isFailing)
  const [differing, noted] = [false, true].map(isNote => faults.filter(({ note }) => (note !== undefined) === isNote))
  const lists: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ['Missing windows:', failing.flatMap(one => missingLines(one, verbose))],
    [
      'Corrupt windows:',
      failing.flatMap(one => one.corrupt.map(({ startDate, reason }) => `${seriesName(one)} ${startDate}: ${reason}`)),
    ],
    ['Invalid candles (UTC):', failing.flatMap(invalidLines)],
    ['Candles that differ from their finer candles (UTC):', differing.flatMap(describeDifference)],
    outageTable(result, true, verbose),
    outageTable(result, false, verbose),
    ['Notes: close times that differ by 1 ms in candles that close early (UTC):', noted.flatMap(describeDifference)],
    ['Notes: candles that the exchange itself has off the grid (UTC):', series.flatMap(offGridLines)],
    ['All series, with candles that close early or have no trade:', verbose ? [textOf(ALL, series)] : []],
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

const FAULTS: readonly (readonly [name: string, of: (series: JudgedSeries) => number])[] = [
  ['missing windows', ({ missingWindows }) => missingWindows.length],
  ['corrupt', ({ corrupt }) => corrupt.length],
  ['differ', ({ differing }) => differing],
  ['invalid', ({ counts }) => counts.invalid],
  ['gaps', ({ failingGaps }) => failingGaps],
  ['short', ({ short }) => short],
]

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
  const [missing, corrupt, differing, invalid, gaps] = FAULTS.map(([, of]) => sum(failing.map(of)))
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

/** The failing series, with what is not 0 for all. */
function failingTable(failing: readonly JudgedSeries[]): string {
  const shown = FAULTS.filter(([, of]) => failing.some(one => of(one) > 0))
  const rows = failing.map(one => [one.symbol, one.interval, one.candles, ...shown.map(([, of]) => of(one))])
  const numbers = ['candles', ...shown.map(([name]) => name)]
  return textTable({ head: ['symbol', 'interval', ...numbers], rows, right: numbers })
}

const ALL = {
  series: column('series', text(), seriesName),
  candles: column('candles', count()),
  firstOpenTime: column('first', day()),
  lastOpenTime: column('last', day()),
  gaps: column('gaps', count(), ({ gaps }: JudgedSeries) => gaps.length),
  early: column('early', count(), ({ counts }: JudgedSeries) => counts.earlyClose),
  withoutTrades: column('no trade', count(), ({ counts }: JudgedSeries) => counts.zeroTrades),
  unverified: column('unverified', count()),
}

/** The missing windows of a series: `2024-01-01`, or `2022-01-01 to 2023-12-01 (24)` for windows that follow each other. */
function missingLines({ missingWindows, ...series }: JudgedSeries, verbose: boolean): string[] {
  const runs: string[][] = []
  let next = ''
  for (const startDate of missingWindows) {
    if (startDate === next && !verbose) runs.at(-1)?.push(startDate)
    else runs.push([startDate])
    next = formatDate(windowSpan({ interval: series.interval, startDate }).endTime)
  }
  const list = runs.flatMap(run =>
    run.length <= MAX_SUCCESSIVE ? run : `${run[0]} to ${run.at(-1)} (${formatCount(run.length)})`,
  )
  return list.length === 0 ? [] : wrap(`${seriesName(series)}: ${list.join(', ')}`.split(/(?<=,) /))
}

function invalidLines(series: JudgedSeries): string[] {
  const lines = series.faults.flatMap(({ openTime, description }) => {
    return wrap([`${candleName({ ...series, openTime })}:`, description])
  })
  return [...lines, ...moreLine(series, series.counts.invalid - series.faults.length)]
}

/** The candle, its value and the expected one, in one line or two. */
function describeDifference(difference: CandleDifference): string[] {
  const { column, value, expected, finer } = difference
  const [of, but] = column === undefined ? ['', 'but'] : [` ${column}`, 'expected']
  return wrap([`${candleName(difference)}${of}: ${value},`, `${but} ${expected} (${finer.join(', ')})`])
}

function offGridLines({ offGrid, counts, ...series }: JudgedSeries): string[] {
  const [first, last] = [offGrid.at(0), offGrid.at(-1)].map(candle => candle && exactTime(candle.openTime))
  if (first === undefined) return []
  return wrap([`${seriesName(series)}: ${plural(counts.offGrid, 'candle')},`, `${first} to ${last}`])
}

/** The gaps of a series, then its harmless oddities in order of time. */
function oddityLines(series: JudgedSeries): string[] {
  const { gaps, offGrid, earlyClose, zeroTrades, counts } = series
  const name = seriesName(series)
  const odd = [
    ...[...offGrid, ...earlyClose].map(({ openTime, description }) => ({ time: openTime, what: `: ${description}` })),
    ...zeroTrades.map(({ startTime, endTime, candles }) => {
      const run = ` to ${exactTime(endTime)}: ${plural(candles, 'candle')} without a trade`
      return { time: startTime, what: candles === 1 ? ': has no trade' : run }
    }),
  ].sort((a, b) => a.time - b.time)
  const left = counts.offGrid + counts.earlyClose + counts.zeroTrades - sumOf(zeroTrades, 'candles')
  return [
    ...gaps.map(({ startTime, endTime, missing, outage }) => {
      const what = `${plural(missing, 'candle')} missing${outage ? ', an outage' : ''}`
      return `${name} ${exactTime(startTime)} to ${exactTime(endTime)}: ${what}`
    }),
    ...odd.map(({ time, what }) => `${name} ${exactTime(time)}${what}`),
    ...moreLine(series, left - offGrid.length - earlyClose.length),
  ]
}

function moreLine(series: Series, count: number): string[] {
  return count > 0 ? [`${seriesName(series)}: ${formatCount(count)} more like these`] : []
}

/** The outages of the exchange (`isShared`), or gaps that only one symbol has: a title, and a table below it. */
function outageTable({ series, outages }: VerificationReport, isShared: boolean, verbose: boolean) {
  const chosen = outages.filter(outage => outage.isShared === isShared)
  const length = ({ startTime, endTime }: Outage) => endTime - startTime
  const longest = chosen.toSorted((a, b) => length(b) - length(a)).slice(0, verbose ? undefined : MAX_OUTAGES)
  const shown = chosen.filter(outage => longest.includes(outage))
  const rows = shown.map(one => [formatTime(one.startTime), formatDuration(length(one)), describeSeries(one.series)])
  const isSingle = series.every(({ symbol }) => symbol === series[0].symbol)
  const gaps = isSingle ? 'Gaps, usually outages of the exchange' : 'Gaps of a single symbol'
  const more = rows.length < chosen.length ? `, the ${rows.length} longest (all with -v)` : ''
  const title = `${isShared ? 'Outages of the exchange' : gaps}: ${formatCount(chosen.length)}${more}`
  const table = { head: ['start (UTC)', 'length', 'series'], rows, right: ['length'] }
  return [title, rows.length > 0 ? [textTable(table)] : []] as const
}

function describeSeries(series: readonly Series[]): string {
  const symbols = [...new Set(series.map(({ symbol }) => symbol))]
  if (symbols.length === 1) return `${symbols[0]} ${series.map(({ interval }) => interval).join(', ')}`
  const of = symbols.length > MAX_SYMBOLS ? plural(symbols.length, 'symbol') : symbols.join(', ')
  return `${formatCount(series.length)} series of ${of}`
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
function closingLines({ series, range, mirror, verdict }: VerificationReport): string {
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
    isNamed && `Range: ${time(range.fromTime, 'the beginning')} to ${time(range.toTime, 'now')} (UTC)`,
    `Mirror: ${mirror}`,
  ]
  return lines.filter(Boolean).join('\n')
}
