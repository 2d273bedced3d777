import { COLUMNS, type Column, type KlineRow } from '../../../klines/columns.js'
import { type Series, seriesName } from '../../../klines/series.js'
import type { Timeline } from './data/timeline.js'
import type { TimeFormat } from './drawing/time-format.js'
import { create, element } from './element.js'

/** The columns as the legend shows them, with their labels. */
const LABELS: readonly (readonly [Column, string])[] = [
  ['open', 'Open'],
  ['high', 'High'],
  ['low', 'Low'],
  ['close', 'Close'],
  ['volume', 'Volume'],
  ['quote_volume', 'Quote'],
  ['count', 'Trades'],
  ['taker_buy_volume', 'Taker buy'],
  ['taker_buy_quote_volume', 'Taker quote'],
  ['open_time', 'Open time'],
  ['close_time', 'Close time'],
  ['ignore', 'Ignore'],
]

/** The exact text of one candle in all columns. */
export class Legend {
  private readonly root = element('legend')
  private readonly name = element('legend-series')
  private readonly time = element('legend-time')
  private readonly change = element('legend-change')
  private readonly cells: readonly { readonly index: number; readonly value: HTMLElement }[]

  constructor() {
    // On a phone only the prices are seen before a tap; elsewhere the button is not there.
    const more = element('legend-more')
    this.root.addEventListener('click', () => {
      more.ariaExpanded = String(more.ariaExpanded !== 'true')
    })
    const list = element('legend-columns')
    this.cells = LABELS.map(([column, label]) => {
      const cell = create('div')
      const value = create('dd', '', { 'data-column': column })
      cell.append(create('dt', label, { title: column }), value)
      list.append(cell)
      return { index: COLUMNS.indexOf(column), value }
    })
  }

  /** Shows the place of a timeline: a candle, or why there is none. */
  show(series: Series, timeline: Timeline, index: number, format: TimeFormat): void {
    const time = timeline.openTime(index)
    this.name.textContent = seriesName(series)
    this.time.textContent = format.sentence(time)
    const candle = timeline.candle(index)
    const state = candle ? (candle.close < candle.open ? 'falling' : 'rising') : undefined
    const isMissing = timeline.band(index)?.isMissing
    this.root.dataset.state = state ?? (isMissing ? 'missing' : 'none')
    if (candle) this.change.textContent = formatChange(candle.open, candle.close)
    else this.change.textContent = isMissing ? 'window not in this mirror' : 'no candle'
    this.fill(candle && timeline.row(index))
  }

  /** Shows a series without candles. */
  clear(name: string): void {
    this.name.textContent = name
    this.time.textContent = ''
    this.change.textContent = ''
    this.root.dataset.state = 'empty'
    this.fill(undefined)
  }

  private fill(row: KlineRow | undefined): void {
    for (const { index, value } of this.cells) showExactly(value, row ? String(row[index]) : undefined)
  }
}

/** Zeros at the end of a decimal belong to the text, but recede. */
function showExactly(cell: HTMLElement, text: string | undefined): void {
  if (text === undefined) {
    cell.textContent = '–'
    return
  }
  const [, digits = text, zeros = ''] = /^(\d+(?:\.\d*[1-9])?)(\.?0+)$/.exec(text) ?? []
  if (zeros && text.includes('.')) cell.replaceChildren(digits, create('span', zeros, { class: 'zeros' }))
  else cell.textContent = text
}

function formatChange(open: number, close: number): string {
  const percent = open > 0 ? ((close - open) / open) * 100 : 0
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${Math.abs(percent).toFixed(2)} %`
}
