import { COLUMN_KINDS, COLUMNS } from '../../candles/columns.js'
import { type Series, seriesName } from '../../candles/series.js'
import { formatCount, formatTime, plural } from '../../candles/text.js'
import { formatDate, windowSpan } from '../../candles/windows.js'
import { isFault, listFaults } from '../../verify/inspect.js'
import type { CandleDifference, JudgedSeries, Outage } from '../../verify/verdict.js'
import type { VerificationReport } from '../../verify/verify.js'
import { column, count, day, derived, type TextFlags, text, textOf } from '../report.js'
import { textTable } from '../terminal/table.js'
import { candleName, exactTime, formatDuration, printable, wrap } from '../terminal/text.js'
import { coverageText, sum, sumOf } from './fields.js'

/** Longer tables show the longest outages only. */
const MAX_OUTAGES = 10
/** More symbols are counted. */
const MAX_SYMBOLS = 3
/** More successive windows are shown as their first and last one. */
const MAX_SUCCESSIVE = 6

/** The verdict first, then what fails, the outages of the exchange, and the notes; with `-v` all series and what is odd about them. */
export function verifyText(result: VerificationReport, { verbose = false }: TextFlags): string {
  const { series, range, baseUrl, outages, sums } = result
  const failing = series.filter(({ isFailing }) => isFailing)
  const [faults, notes] = [true, false].map(isWrong =>
    result.faults.filter(({ note }) => (note === undefined) === isWrong),
  )
  const isSingle = series.every(({ symbol }) => symbol === series[0].symbol)
  const singleGaps = isSingle ? 'Gaps, usually outages of the exchange' : 'Gaps of a single symbol'
  const sections = [
    verdictLine(result),
    failing.length > 0 && failingTable(failing),
    coverageText(series, { range, baseUrl, verbose }),
    titled(
      'Missing windows:',
      failing.flatMap(one => missingLines(one, verbose)),
    ),
    titled(
      'Corrupt windows:',
      failing.flatMap(one => one.corrupt.map(({ startDate, reason }) => `${seriesName(one)} ${startDate}: ${reason}`)),
    ),
    titled('Invalid candles (UTC):', failing.flatMap(invalidLines)),
    titled('Candles that differ from their finer candles (UTC):', faults.flatMap(describeDifference)),
    outageTable(
      'Outages of the exchange',
      outages.filter(({ isShared }) => isShared),
      verbose,
    ),
    outageTable(
      singleGaps,
      outages.filter(({ isShared }) => !isShared),
      verbose,
    ),
    titled(
      'Notes: close times that differ by 1 ms in candles that close early (UTC):',
      notes.flatMap(describeDifference),
    ),
    titled('Notes: candles that the exchange itself has off the grid (UTC):', series.flatMap(offGridLines)),
    verbose && `All series, with candles that close early or have no trade:\n${textOf(ALL, series)}`,
    verbose &&
      titled('Gaps, early closes, candles off the grid and without trades (UTC):', series.flatMap(oddityLines)),
    ...sums.map(sumTable),
    closingLines(result).join('\n'),
  ]
  return sections.filter(Boolean).join('\n\n')
}

function titled(title: string, lines: readonly string[]): string | undefined {
  return lines.length > 0 ? [title, ...lines].join('\n') : undefined
}

const isOrAre = (count: number) => (count === 1 ? 'is' : 'are')

/** The first line of the report: the verdict, and why. */
function verdictLine({ verdict, series, pairs, outages, failOnGaps }: VerificationReport): string {
  if (verdict === 'empty') return `NO CANDLES: ${plural(series.length, 'series')}, all of them empty`
  const failing = series.filter(({ isFailing }) => isFailing)
  const short = sumOf(series, 'short')
  const [differing, invalid, gaps] = [
    sumOf(failing, 'differing'),
    sumOf(failing, 'invalid'),
    sumOf(failing, 'failingGaps'),
  ]
  const corrupt = sum(failing.map(one => one.corrupt.length))
  const missing = sum(failing.map(one => one.missingWindows.length))
  const shared = outages.filter(({ isShared }) => isShared).length
  const notes = sumOf(series, 'notes')
  const isGood = verdict === 'ok' || verdict === 'short'
  const parts = isGood
    ? [
        `${formatCount(series.length)} series`,
        plural(sumOf(series, 'candles'), 'candle'),
        short > 0 && `${formatCount(short)} fewer than requested`,
        pairs.length > 0 && plural(sumOf(pairs, 'comparisons'), 'comparison'),
        shared > 0 && plural(shared, 'outage'),
        outages.length > shared && plural(outages.length - shared, 'gap'),
        notes > 0 && plural(notes, 'note'),
      ]
    : [
        differing > 0 && `${plural(differing, 'candle')} ${differing === 1 ? 'differs' : 'differ'}`,
        invalid > 0 &&
          `${differing > 0 ? formatCount(invalid) : plural(invalid, 'candle')} ${isOrAre(invalid)} invalid`,
        corrupt > 0 && `${plural(corrupt, 'window')} ${isOrAre(corrupt)} corrupt`,
        missing > 0 && `${corrupt > 0 ? formatCount(missing) : plural(missing, 'window')} ${isOrAre(missing)} missing`,
        gaps > 0 && plural(gaps, 'gap'),
        failOnGaps && short > 0 && `${plural(short, 'candle')} fewer than requested`,
      ]
  const of = isGood ? '' : `${formatCount(failing.length)} of ${formatCount(series.length)} series: `
  return `${verdict.toUpperCase()}: ${of}${parts.filter(Boolean).join(', ')}`
}

/** The columns of the table of failing series, left out where they are 0 for all. */
const FAILING: Readonly<Record<string, (series: JudgedSeries) => number>> = {
  'missing windows': ({ missingWindows }) => missingWindows.length,
  corrupt: ({ corrupt }) => corrupt.length,
  differ: ({ differing }) => differing,
  invalid: ({ invalid }) => invalid,
  gaps: ({ failingGaps }) => failingGaps,
  short: ({ short }) => short,
}

function failingTable(failing: readonly JudgedSeries[]): string {
  const shown = Object.keys(FAILING).filter(head => failing.some(one => FAILING[head](one) > 0))
  const rows = failing.map(one => [one.symbol, one.interval, one.candles, ...shown.map(head => FAILING[head](one))])
  return textTable({ head: ['symbol', 'interval', 'candles', ...shown], rows, right: ['candles', ...shown] })
}

/** The columns of the table of all series. */
const ALL = {
  series: derived(column('series', text()), seriesName),
  candles: column('candles', count()),
  firstOpenTime: column('first', day()),
  lastOpenTime: column('last', day()),
  gaps: derived(column('gaps', count()), ({ gaps }: JudgedSeries) => gaps.length),
  early: derived(column('early', count()), ({ counts }: JudgedSeries) => counts.early_close),
  withoutTrades: column('no trade', count()),
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

/** The candles of a series that cannot be right, with the reason. */
function invalidLines(series: JudgedSeries): string[] {
  const faults = listFaults(series)
  const lines = faults.flatMap(({ openTime, description }) => {
    return wrap([`${candleName({ ...series, openTime })}:`, description])
  })
  return [...lines, ...moreLine(series, series.invalid - faults.length)]
}

/** The candle, its value and the expected one, in one line or two. */
function describeDifference(difference: CandleDifference): string[] {
  const { column, value, expected, finer } = difference
  const what = column === undefined ? [`: ${value},`, 'but'] : [` ${column}: ${value},`, 'expected']
  return wrap([`${candleName(difference)}${what[0]}`, `${what[1]} ${expected} (${finer.join(', ')})`])
}

/** One line for a series that has candles that the exchange itself has off the grid. */
function offGridLines(series: JudgedSeries): string[] {
  const times = series.anomalies.flatMap(({ kind, openTime }) => (kind === 'old_off_grid' ? exactTime(openTime) : []))
  if (times.length === 0) return []
  return wrap([
    `${seriesName(series)}: ${plural(series.counts.old_off_grid, 'candle')},`,
    `${times[0]} to ${times.at(-1)}`,
  ])
}

/** The gaps of a series, then its harmless oddities in order of time. */
function oddityLines(series: JudgedSeries): string[] {
  const { gaps, anomalies, runsWithoutTrades, withoutTrades, counts } = series
  const name = seriesName(series)
  const notes = anomalies.filter(({ kind }) => !isFault(kind))
  const listed = [
    ...notes.map(one => ({ time: one.openTime, line: `${candleName({ ...series, ...one })}: ${one.description}` })),
    ...runsWithoutTrades.map(({ startTime, endTime, candles }) => {
      const run = `${exactTime(startTime)} to ${exactTime(endTime)}: ${plural(candles, 'candle')} without a trade`
      return { time: startTime, line: `${name} ${candles === 1 ? `${exactTime(startTime)}: has no trade` : run}` }
    }),
  ]
  const all = counts.early_close + counts.old_off_grid + withoutTrades
  return [
    ...gaps.map(({ startTime, endTime, missing, outage }) => {
      const what = `${plural(missing, 'candle')} missing${outage ? ', an outage' : ''}`
      return `${name} ${exactTime(startTime)} to ${exactTime(endTime)}: ${what}`
    }),
    ...listed.toSorted((a, b) => a.time - b.time).map(({ line }) => line),
    ...moreLine(series, all - notes.length - sumOf(runsWithoutTrades, 'candles')),
  ]
}

function moreLine(series: Series, count: number): string[] {
  return count > 0 ? [`${seriesName(series)}: ${formatCount(count)} more like these`] : []
}

function outageTable(title: string, outages: readonly Outage[], verbose: boolean): string | undefined {
  if (outages.length === 0) return undefined
  const length = ({ startTime, endTime }: Outage) => endTime - startTime
  const longest = outages.toSorted((a, b) => length(b) - length(a)).slice(0, verbose ? undefined : MAX_OUTAGES)
  const rows = outages
    .filter(outage => longest.includes(outage))
    .map(outage => [formatTime(outage.startTime), formatDuration(length(outage)), describeSeries(outage.series)])
  const more = rows.length < outages.length ? `, the ${rows.length} longest (all with -v)` : ''
  const table = textTable({ head: ['start (UTC)', 'length', 'series'], rows, right: ['length'] })
  return `${title}: ${formatCount(outages.length)}${more}\n${table}`
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
function closingLines({ series, range, mirror, verdict }: VerificationReport): string[] {
  const failing = series.filter(({ isFailing }) => isFailing)
  const unverified = sumOf(series, 'unverified')
  const time = (value: number, open: string) => (Number.isFinite(value) ? exactTime(value) : open)
  const isNamed = range.named.from !== undefined || range.named.to !== undefined
  const isOffGrid = series.some(({ counts }) => counts.old_off_grid > 0)
  const reason = isOffGrid ? 'off the grid or without finer candles' : 'because no finer candles are cached'
  const isBad = verdict === 'failed' || verdict === 'incomplete'
  const lacksWindows = failing.some(({ missingWindows, corrupt }) => missingWindows.length + corrupt.length > 0)
  const isWrong = failing.some(({ differing, invalid }) => differing + invalid > 0)
  const lines = [
    isBad && lacksWindows && 'klines download downloads missing and corrupt windows.',
    isBad &&
      isWrong &&
      'klines download --refresh downloads every window of a series, or of its --from and --to, again.',
    unverified > 0 &&
      `Not compared, ${reason}: ${formatCount(unverified)} of ${plural(sumOf(series, 'candles'), 'candle')}`,
    isNamed && `Range: ${time(range.fromTime, 'the beginning')} to ${time(range.toTime, 'now')} (UTC)`,
    `Mirror: ${mirror}`,
  ]
  return lines.filter(line => line !== false)
}
