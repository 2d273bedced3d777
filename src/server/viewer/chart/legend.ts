import type { Row } from './data/candle-window.js'
import type { Series } from './data/service.js'
import type { Timeline } from './data/timeline.js'
import type { TimeFormat } from './drawing/time-format.js'
import { create, element } from './element.js'

/** The elements of a row as the legend shows them: index, name of the column, label. */
const COLUMNS = [
  [1, 'open', 'Open'],
  [2, 'high', 'High'],
  [3, 'low', 'Low'],
  [4, 'close', 'Close'],
  [5, 'volume', 'Volume'],
  [7, 'quote_volume', 'Quote'],
  [8, 'count', 'Trades'],
  [9, 'taker_buy_volume', 'Taker buy'],
  [10, 'taker_buy_quote_volume', 'Taker quote'],
  [0, 'open_time', 'Open time'],
  [6, 'close_time', 'Close time'],
  [11, 'ignore', 'Ignore'],
] as const

/** The exact text of one candle in all columns. */
export class Legend {
  private readonly root = element('legend')
  private readonly name = element('legend-series')
  private readonly time = element('legend-time')
  private readonly change = element('legend-change')
  private readonly cells: readonly { readonly index: number; readonly value: HTMLElement }[]

  constructor() {
    const list = element('legend-columns')
    this.cells = COLUMNS.map(([index, column, label]) => {
      const cell = create('div')
      const value = create('dd', '', { 'data-column': column })
      cell.append(create('dt', label, { title: column }), value)
      list.append(cell)
      return { index, value }
    })
  }

  /** Shows the place of a timeline: a candle, or why there is none. */
  show({ symbol, interval }: Series, timeline: Timeline, index: number, format: TimeFormat): void {
    const time = timeline.openTime(index)
    this.name.textContent = `${symbol} ${interval}`
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

  private fill(row: Row | undefined): void {
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
