import type { KlineRow } from '../../candles/columns.js'
import { trimDecimal } from '../../candles/decimals.js'
import { nextOpenTime } from '../../candles/intervals.js'
import { seriesName } from '../../candles/series.js'
import { element } from './elements.js'
import type { SeriesWindows } from './series-windows.js'
import { ROOT } from './service.js'

/** A candle comes some 15 s after its close. */
const LATE_MS = 30_000
const LOOK_MS = 5_000
/** Candles that come together are shown together. */
const GATHER_MS = 100
const SIGNS = { Live: '●', Late: '◐', Offline: '○' } as const

/** Follows a series while its tab is visible. `onCandle`: called when candles have closed, with the time when the last one opens. */
export function followSeries(windows: SeriesWindows, onCandle: (openTime: number) => void): void {
  const { series, coverage, signal } = windows
  const { symbol, interval } = series
  const dot = element('live')
  const ahead = coverage.now - Date.now()
  let newest = windows.lastOpenTime
  let source: EventSource | undefined
  let gathering: number | undefined
  const show = () => {
    const isLate = Date.now() + ahead > nextOpenTime(interval, nextOpenTime(interval, newest)) + LATE_MS
    const state = source?.readyState !== EventSource.OPEN ? 'Offline' : isLate ? 'Late' : 'Live'
    if (dot.textContent !== state) dot.textContent = state
    dot.dataset.sign = SIGNS[state]
  }
  const read = ({ data }: MessageEvent<string>) => {
    const [openTime, , , , close]: KlineRow = JSON.parse(data)
    newest = Math.max(newest, openTime)
    document.title = `${trimDecimal(close)} ${seriesName(series)} – klines`
    gathering ??= setTimeout(() => {
      gathering = undefined
      onCandle(newest)
    }, GATHER_MS)
    show()
  }
  const open = () => {
    source?.close()
    if (signal.aborted || document.hidden) return
    const from = nextOpenTime(interval, newest)
    source = new EventSource(`${ROOT}follow/${interval}/${encodeURIComponent(symbol)}?from=${from}`)
    source.addEventListener('candle', read)
    for (const name of ['open', 'error']) source.addEventListener(name, show)
  }
  const timer = setInterval(() => {
    // One that was refused does not come back by itself.
    if (source?.readyState === EventSource.CLOSED) open()
    show()
  }, LOOK_MS)
  document.addEventListener('visibilitychange', open, { signal })
  signal.addEventListener('abort', () => {
    clearInterval(timer)
    source?.close()
    dot.hidden = true
  })
  dot.hidden = false
  open()
}
