import { EXCHANGE_INTERVALS, INTERVALS, type Interval, MINUTE_MS } from '../../candles/intervals.js'
import type { Series } from '../../candles/series.js'
import type { TimeRange } from '../../candles/time-range.js'
import { formatDate } from '../../candles/windows.js'
import { type Address, formatTime } from './address.js'
import { create, element } from './elements.js'
import type { Coverage } from './service.js'
import { SymbolBox } from './symbol-box.js'

/** Hears what people choose. */
export interface ToolbarActions {
  readonly series: (change: Partial<Series>) => void
  readonly scale: (change: Partial<Pick<Address, 'isLog' | 'isLocal'>>) => void
  /** A time, ms UTC. */
  readonly jump: (time: number) => void
}

/** The controls above the chart. */
export class Toolbar {
  /** The chosen series, as far as the address names one. */
  series: Partial<Series> = {}
  private readonly symbol: SymbolBox
  private readonly intervals: ReadonlyMap<Interval, HTMLButtonElement>
  private readonly log = element<HTMLInputElement>('log')
  private readonly zone = element<HTMLSelectElement>('zone')
  private readonly day = element<HTMLInputElement>('day')
  private coverage: Coverage | undefined

  constructor(actions: ToolbarActions) {
    this.symbol = new SymbolBox(symbol => actions.series({ symbol }))
    this.intervals = new Map(
      EXCHANGE_INTERVALS.map(interval => {
        const button = create('button', interval, { type: 'button', 'aria-pressed': 'false' })
        button.addEventListener('click', () => actions.series({ interval }))
        element('intervals').append(button)
        return [interval, button]
      }),
    )
    const { log, zone, day } = this
    log.addEventListener('change', () => actions.scale({ isLog: log.checked }))
    zone.addEventListener('change', () => actions.scale({ isLocal: zone.value === 'local' }))
    day.addEventListener('change', () => {
      if (day.value) actions.jump(Date.parse(zone.value === 'local' ? `${day.value}T00:00` : day.value))
    })
  }

  showSeries(series: Partial<Series>): void {
    this.series = series
    this.symbol.show(series.symbol ?? '')
    this.showIntervals()
  }

  showScale({ isLog, isLocal }: Pick<Address, 'isLog' | 'isLocal'>): void {
    this.log.checked = isLog
    this.zone.value = isLocal ? 'local' : 'utc'
  }

  /** Lists the symbols, and marks the intervals that the mirror has. */
  showCoverage(coverage: Coverage): void {
    this.coverage = coverage
    const cached = new Set(coverage.series.map(({ symbol }) => symbol))
    this.symbol.setSymbols(coverage.symbols, new Set(coverage.symbols.filter(symbol => !cached.has(symbol))))
    this.showIntervals()
  }

  private showIntervals(): void {
    const { symbol, interval: current } = this.series
    const cached = this.coverage?.series.filter(series => series.symbol === symbol).map(({ interval }) => interval)
    // A mirror of a static service has no minutes.
    const offered: readonly Interval[] = this.coverage?.intervals ?? INTERVALS
    for (const [interval, button] of this.intervals) {
      const isCurrent = interval === current
      button.hidden = !isCurrent && !offered.includes(interval)
      button.ariaPressed = String(isCurrent)
      const isCached = cached?.includes(interval) ?? true
      button.classList.toggle('absent', !isCached)
      button.title = isCached ? `${interval} candles` : `${interval} candles: none in this mirror`
    }
  }

  /** Shows the visible time in the day picker and in the download links, ms UTC. */
  showRange({ symbol, interval }: Series, { fromTime, toTime }: TimeRange): void {
    const offset = this.zone.value === 'local' ? new Date(fromTime).getTimezoneOffset() * MINUTE_MS : 0
    if (document.activeElement !== this.day) this.day.value = formatDate(fromTime - offset)
    const query = `from=${formatTime(fromTime)}&to=${formatTime(toTime)}`
    for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-format]'))
      link.href = `/export/${interval}/${encodeURIComponent(symbol)}.${link.dataset.format}?${query}`
  }
}
