import { COLUMNS, type Column, type KlineRow } from '../../candles/columns.js'
import { formatChange } from '../../candles/decimals.js'
import { type Series, seriesName } from '../../candles/series.js'
import { formatCount, formatTime, plural } from '../../candles/text.js'
import { create, element } from './elements.js'
import type { SeriesWindows } from './series-windows.js'
import type { Timeline } from './timeline.js'

/** The columns in the order of the legend, and what they are called there. */
const NAMES: Readonly<Record<Column, string>> = {
  open: 'Open',
  high: 'High',
  low: 'Low',
  close: 'Close',
  volume: 'Volume',
  quote_volume: 'Quote',
  count: 'Trades',
  taker_buy_volume: 'Taker buy',
  taker_buy_quote_volume: 'Taker quote',
  open_time: 'Open time',
  close_time: 'Close time',
  ignore: 'Ignore',
}

/** The exact texts of one candle in all columns. */
export class Legend {
  private readonly root = element('legend')
  private readonly name = element('legend-series')
  private readonly time = element('legend-time')
  private readonly change = element('legend-change')
  private readonly cells = Object.entries(NAMES).map(([column, name]) => {
    const cell = create('dd', '', { 'data-column': column })
    const entry = create('div', create('dt', name, { title: column }))
    entry.append(cell)
    element('legend-columns').append(entry)
    return cell
  })

  constructor() {
    // On a phone only the prices are seen before a tap.
    const more = element('legend-more')
    this.root.addEventListener('click', () => {
      more.ariaExpanded = String(more.ariaExpanded !== 'true')
    })
  }

  /** Shows a place of a timeline: a candle, or why there is none. */
  show(series: Series, timeline: Timeline, index: number, describeTime: (time: number) => string): void {
    const time = timeline.openTime(index)
    this.name.textContent = seriesName(series)
    this.time.textContent = describeTime(time)
    const candle = timeline.candle(index)
    const state = candle ? (candle.close < candle.open ? 'falling' : 'rising') : undefined
    const isMissing = timeline.band(index)?.isMissing
    this.root.dataset.state = state ?? (isMissing ? 'missing' : 'none')
    const row = candle && timeline.row(index)
    if (row) this.change.textContent = describeChange(row[1], row[4])
    else this.change.textContent = isMissing ? 'window not in this mirror' : 'no candle'
    this.fill(row)
  }

  clear(name: string): void {
    this.name.textContent = name
    this.time.textContent = this.change.textContent = ''
    this.root.dataset.state = 'empty'
    this.fill(undefined)
  }

  private fill(row: KlineRow | undefined): void {
    for (const cell of this.cells) {
      const index = COLUMNS.indexOf(cell.dataset.column as Column)
      showExactly(cell, row ? String(row[index]) : '–')
    }
  }
}

/** Zeros at the end of a decimal belong to the text, but recede. */
function showExactly(cell: HTMLElement, text: string): void {
  const digits = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  cell.replaceChildren(digits, create('span', text.slice(digits.length), { class: 'zeros' }))
}

/** `−1.50 %`; empty where there is none. */
function describeChange(open: string, close: string): string {
  return (formatChange(open, close) ?? '').replace('-', '−').replace('%', ' %')
}

export function describeLoaded(timeline: Timeline, { isAtStart, isAtEnd, coverage }: SeriesWindows): string {
  const { candles, missing, missingWindows } = timeline
  const [first, last] = [0, timeline.length - 1].map(index => formatTime(timeline.openTime(index)))
  const parts = [`${plural(candles, 'candle')} from ${first} to ${last} UTC, ${formatCount(missing)} missing`]
  if (missingWindows > 0) parts.push(`${plural(missingWindows, 'window')} not in this mirror`)
  if (isAtStart && isAtEnd) parts.push(coverage.upstream ? 'all there are' : 'all in this mirror')
  return parts.join(' · ')
}
