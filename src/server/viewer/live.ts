import type { KlineRow } from '../../candles/columns.js'
import { trimDecimal } from '../../candles/decimals.js'
import { nextOpenTime } from '../../candles/intervals.js'
import { seriesName } from '../../candles/series.js'
import { create, element } from './elements.js'
import type { SeriesWindows } from './series-windows.js'
import { ROOT } from './service.js'

const LOOK_MS = 500
/** A candle comes some 15 s after its close. */
const LATE_MS = 30_000
const SIGNS = { live: '●', late: '◐', offline: '○' } as const

/** Follows a series while its tab is visible. `onCandle`: hears when the newest candle opens, after each that has closed. */
export function followSeries(
  { series, coverage, signal }: SeriesWindows,
  newest: KlineRow | undefined,
  onCandle: (openTime: number) => void,
): void {
  const { symbol, interval } = series
  const dot = element('live')
  const aheadMs = coverage.now - Date.now()
  let source: EventSource | undefined
  let from = coverage.lastOpenTime ?? coverage.now
  const take = ([openTime, , , , close]: KlineRow) => {
    from = nextOpenTime(interval, openTime)
    document.title = `${trimDecimal(close)} ${seriesName(series)} – klines`
  }
  const look = () => {
    if (document.hidden) source?.close()
    else if (source === undefined || source.readyState === EventSource.CLOSED) {
      source = new EventSource(`${ROOT}follow/${interval}/${encodeURIComponent(symbol)}?from=${from}`)
      source.addEventListener('candle', ({ data }) => take(JSON.parse(data)))
    }
    // Candles that come together are drawn together.
    if (drawn !== from) onCandle(from - 1)
    drawn = from
    const isLate = Date.now() + aheadMs > nextOpenTime(interval, from) + LATE_MS
    const state = source?.readyState !== EventSource.OPEN ? 'offline' : isLate ? 'late' : 'live'
    if (dot.dataset.state === state) return
    dot.dataset.state = state
    dot.replaceChildren(create('span', SIGNS[state], { 'aria-hidden': 'true' }), ` ${state}`)
  }
  if (newest) take(newest)
  let drawn = from
  const timer = setInterval(look, LOOK_MS)
  signal.addEventListener('abort', () => {
    clearInterval(timer)
    source?.close()
    dot.replaceChildren()
    delete dot.dataset.state
  })
}
