import { joinNames } from '../../download/errors.js'
import { SAMPLE } from '../../http/base-url.js'
import type { KlineBatch } from '../../klines/batch/kline-batch.js'
import { COLUMN_KINDS, COLUMNS } from '../../klines/columns.js'
import { nextOpenTime } from '../../klines/intervals.js'
import { seriesName } from '../../klines/series.js'
import { formatBytes, formatCount, formatTime, plural } from '../../klines/text.js'
import { formatDate, windowSpan } from '../../klines/windows.js'
import type { ReadableFacts, SharedGap } from '../../verify/candle-facts.js'
import type { FinerSum } from '../../verify/finer-sum.js'
import { downloadCommand } from '../local-mirror.js'
import { textTable } from '../terminal/table.js'
import { exactTime, printable, wrap } from '../terminal/text.js'
import { describeCell } from './changes.js'
import type { Report } from './report.js'
import { SYNTHETIC } from './run-text.js'
import type { ShowObject } from './schema.js'
import { differs, isDifferent, type ShowDetails, showObject, toTimes } from './show-object.js'

/** Changed cells of other candles that are shown. */
const MAX_SHOWN = 5

/** `show`. */
export function showReport(facts: ReadableFacts, details: ShowDetails): Report<ShowObject> {
  return { json: showObject(facts, details), text: () => showText(facts, details) }
}

function showText(facts: ReadableFacts, details: ShowDetails): string {
  const { series, startTime, endTime, candle } = facts
  const { baseUrl, root } = details.mirror
  return [
    ...failureLines(facts, details),
    `${seriesName(series)}, ${exactTime(startTime)} to ${exactTime(endTime)} UTC`,
    '',
    ...(candle ? [cellTable(facts, candle)] : absentLines(facts, details.location)),
    '',
    ...sumLines(facts),
    ...neighbourLines(facts),
    ...windowLines(facts, details),
    ...checkLines(facts, details),
    ...(baseUrl === SAMPLE ? [SYNTHETIC] : []),
    `Mirror: ${root}`,
  ].join('\n')
}

/** What is wrong, first. */
function failureLines(facts: ReadableFacts, { check, location }: ShowDetails): string[] {
  if (!differs(facts, check) || !facts.window) return []
  const sums = facts.finer.filter(isDifferent).map(({ interval }) => interval)
  const isOther = check !== undefined && differs({ ...facts, finer: [] }, check)
  const reasons = [
    ...(sums.length > 0 ? [`not what its ${sums.join(', ')} candles add up to`] : []),
    ...(isOther ? ['the service has another window'] : []),
  ]
  return [`FAILED: ${reasons.join('; ')}`, `  ${downloadCommand(facts.window, location, true)}`, '']
}

/** The twelve cells, and beside them the sum of the finest candles. */
function cellTable({ finer }: ReadableFacts, candle: KlineBatch): string {
  const sum = finer.find(({ cells, differences }) => cells && differences)
  const differing = new Set(sum?.differences?.map(({ column }) => column))
  const rows = COLUMNS.map((column, index) => {
    const own = cellText(index, candle.text(0, index))
    return [
      column,
      own,
      ...(sum?.cells ? [cellText(index, sum.cells[index])] : []),
      ...(differing.has(column) ? ['!='] : []),
    ]
  })
  const head = [
    '',
    'candle',
    ...(sum ? [`sum of ${sum.candles} x ${sum.interval}`] : []),
    ...(differing.size > 0 ? [''] : []),
  ]
  return textTable({ head, rows: rows.map(row => head.map((_, index) => row[index] ?? '')) })
}

function cellText(column: number, text: string): string {
  return COLUMN_KINDS[column] === 'time' ? exactTime(Number(text)) : printable(text)
}

/** Why there is no candle. */
function absentLines(facts: ReadableFacts, location: string): string[] {
  const advice = facts.state === 'unsettled' && facts.window ? [downloadCommand(facts.window, location)] : []
  return [...wrap(`NO CANDLE${describeAbsence(facts)}`.split(' '), '', ''), ...advice.map(command => `  ${command}`)]
}

function describeAbsence({ state, time, window, before, after, listing, gaps, ...facts }: ReadableFacts): string {
  const at = ` at ${exactTime(time)}`
  const newest = before ? ` The newest cached one opens ${exactTime(before.openTime(0))}.` : ''
  switch (state) {
    case 'gap': {
      if (gaps.length === 0) return `${at}: it lies between two that the exchange has off the grid.`
      const [{ missing, startTime, endTime }] = gaps
      return `${at}: a gap of ${plural(missing, 'candle')}, ${exactTime(startTime)} to ${exactTime(endTime)}.`
    }
    case 'before': {
      if (window === undefined) return `: the windows of this interval begin ${facts.firstStartDate}.`
      const isListed = listing.isFirst && listing.earliest !== undefined && facts.endTime <= listing.earliest
      if (isListed) return `: the symbol is traded since ${formatTime(listing.earliest)}.`
      return `: the first cached one opens ${exactTime(after?.openTime(0) ?? facts.endTime)}.`
    }
    case 'open':
      return ` yet: that time is not over, and only candles that have closed are there.${newest}`
    case 'after':
      return `: the series has none any more.${newest}`
    default:
      return ` in the cached window, which may have got it since.${newest}`
  }
}

/** Which sums are equal, which are not, and why some are not compared. */
function sumLines({ finer }: ReadableFacts): string[] {
  const compared = finer.filter(({ differences }) => differences !== undefined)
  const same = compared.filter(({ differences }) => differences?.length === 0)
  const notes = compared.filter(one => (one.differences ?? []).length > 0 && !isDifferent(one))
  const [equal, absent] = [same.filter(({ candles }) => candles > 0), same.filter(({ candles }) => candles === 0)]
  const named = (text: string, sums: readonly FinerSum[]) =>
    sums.length === 0 ? [] : wrapFact('Sums', `${text}: ${sums.map(nameSum).join(', ')}`)
  const lines = [
    ...named('equal in all columns', equal),
    ...named('equal, but for the close time of a candle that closes early, by 1 ms', notes),
    ...named('no candles either', absent),
    ...finer.filter(isDifferent).flatMap(one => [...named('different', [one]), ...differenceLines(one)]),
    ...finer.flatMap(({ interval, reason }) =>
      reason === undefined ? [] : wrapFact('Sums', `${interval} not compared: ${reason}`),
    ),
  ]
  return lines.map((line, index) => (index > 0 ? line.replace(/^Sums/, '    ') : line))
}

/** `4 x 15m`, which no line breaks. */
function nameSum({ candles, interval }: FinerSum): string {
  return candles === 0 ? interval : `${formatCount(candles)} x ${interval}`.replaceAll(' ', UNBROKEN)
}

function differenceLines({ differences = [] }: FinerSum): string[] {
  return differences.flatMap(({ column, value, expected }) => {
    if (column === undefined) return wrapFact('', `${value}, but ${expected}`)
    return wrapFact('', `${column} ${printable(value)}, sum ${printable(expected)}`)
  })
}

function neighbourLines(facts: ReadableFacts): string[] {
  const { series, candle, before, after, gaps, startTime } = facts
  const { interval } = series
  const closes = candle ? [candle] : before ? [before] : []
  const early = closes.flatMap(batch => {
    const closeTime = batch.closeTime(0)
    return closeTime < nextOpenTime(interval, batch.openTime(0)) - 1
      ? wrapFact('Early', `the candle of ${exactTime(batch.openTime(0))} closes at ${exactTime(closeTime)}`)
      : []
  })
  const side = (batch: KlineBatch | undefined, gap: SharedGap | undefined) => {
    if (batch === undefined) return 'not cached'
    const missing = candle && gap ? `, ${plural(gap.missing, 'candle')} missing between` : ''
    return `${exactTime(batch.openTime(0))}, close ${printable(batch.text(0, 4))}${missing}`
  }
  const outages = gaps.flatMap(({ lacking, compared }) => {
    if (lacking.length === 0)
      return compared === 0 ? [] : wrapFact('Gap', `none of ${formatCount(compared)} other symbols lacks candles then`)
    const lack = lacking.length === 1 ? 'lacks' : 'lack'
    return wrapFact('Outage', `of the exchange: ${joinNames(lacking)} ${lack} candles then, too`)
  })
  if (!candle && !before && !after) return []
  const gapBefore = gaps.find(gap => gap.endTime <= startTime)
  const gapAfter = gaps.find(gap => gap.startTime > startTime)
  return [
    ...early,
    ...wrapFact('Before', side(before, gapBefore)),
    ...wrapFact('After', side(after, gapAfter)),
    ...outages,
  ]
}

function windowLines({ window }: ReadableFacts, { mirror, window: cached }: ShowDetails): string[] {
  if (!window) return []
  const span = `${window.startDate} to ${formatDate(windowSpan(window).endTime)}`
  if (!cached) return wrapFact('Window', `${span}, not cached`)
  const { renderedTime, fetchedTime, storedTime } = toTimes(cached, mirror)
  const fate = cached.final ? 'final: it is not downloaded again' : 'not final: the next download requests it'
  const isRecorded = fetchedTime !== undefined
  const fetched = isRecorded ? formatTime(fetchedTime) : `by ${formatTime(storedTime)} (when its file came here)`
  const rendered = `${formatTime(renderedTime)}${isRecorded ? '' : ', by the time of its file'}`
  return [
    ...wrapFact('Window', `${span}, ${fate}`),
    ...wrapFact('', `${plural(cached.batch.length, 'candle')}, ${formatBytes(cached.size)}`),
    ...wrapFact('Fetched', `${fetched}, from ${mirror.baseUrl ?? 'an unknown address'}`),
    ...wrapFact('', `the service made it ${rendered}`),
  ]
}

function checkLines({ startTime, state }: ReadableFacts, { check }: ShowDetails): string[] {
  if (!check) return []
  const { lost, added, changed } = check.change
  const own = changed.filter(({ openTime }) => openTime === startTime)
  const others = changed.filter(({ openTime }) => openTime !== startTime)
  const lines = own.map(cell => describeCell(cell))
  if (lost.includes(startTime)) lines.push('the service has no such candle any more')
  if (added.includes(startTime)) lines.push('the service has this candle by now')
  if (lines.length === 0)
    lines.push(state === 'candle' ? 'this candle is the same' : 'the service has no candle there either')
  lines.push(...others.slice(0, MAX_SHOWN).map(cell => `${exactTime(cell.openTime)} ${describeCell(cell)}`))
  if (others.length > MAX_SHOWN)
    lines.push(`and ${plural(others.length - MAX_SHOWN, 'more cell')} of the window; --json has all`)
  const gone = lost.filter(time => time !== startTime)
  if (gone.length > 0) lines.push(`${plural(gone.length, 'other cached candle')} of the window not there any more`)
  const more = added.filter(time => time !== startTime)
  if (more.length > 0) lines.push(`${plural(more.length, 'other candle')} of the window not cached`)
  return [...wrapFact('Check', `now, at ${check.baseUrl}:`), ...lines.flatMap(line => wrapFact('', line))]
}

const LABEL_COLUMNS = 9
const UNBROKEN = '\u00a0'

/** A fact behind its label, in lines that fit 80 columns where words allow it. */
function wrapFact(label: string, text: string): string[] {
  const lines = wrap(text.split(' '), label.padEnd(LABEL_COLUMNS), ' '.repeat(LABEL_COLUMNS))
  return lines.map(line => line.replaceAll(UNBROKEN, ' '))
}
