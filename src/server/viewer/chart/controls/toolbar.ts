import { EXCHANGE_INTERVALS, INTERVALS, type Interval, MINUTE_MS } from '../../../../klines/intervals.js'
import type { Series } from '../../../../klines/series.js'
import type { TimeRange } from '../../../../klines/time-range.js'
import { formatDate } from '../../../../klines/windows.js'
import { formatTime } from '../address.js'
import type { Coverage } from '../data/service.js'
import { create, element } from '../element.js'
import { SymbolBox } from './symbol-box.js'

/** What people choose. */
export interface ToolbarActions {
  readonly symbol: (symbol: string) => void
  readonly interval: (interval: Interval) => void
  readonly log: (isLog: boolean) => void
  readonly zone: (isLocal: boolean) => void
  /** A day, `YYYY-MM-DD`. */
  readonly day: (date: string) => void
}

/** The controls above the chart. */
export class Toolbar {
  private readonly symbol: SymbolBox
  private readonly intervals: ReadonlyMap<Interval, HTMLButtonElement>
  private readonly log = element<HTMLInputElement>('log')
  private readonly zone = element<HTMLSelectElement>('zone')
  private readonly day = element<HTMLInputElement>('day')
  private readonly downloads = [...document.querySelectorAll<HTMLAnchorElement>('a[data-format]')]
  private series: Partial<Series> = {}
  private coverage: Coverage | undefined

  constructor(actions: ToolbarActions) {
    this.symbol = new SymbolBox(actions.symbol)
    this.intervals = new Map(
      EXCHANGE_INTERVALS.map(interval => {
        const button = create('button', interval, { type: 'button', 'aria-pressed': 'false' })
        button.addEventListener('click', () => actions.interval(interval))
        element('intervals').append(button)
        return [interval, button]
      }),
    )
    this.log.addEventListener('change', () => actions.log(this.log.checked))
    this.zone.addEventListener('change', () => actions.zone(this.zone.value === 'local'))
    this.day.addEventListener('change', () => this.day.value && actions.day(this.day.value))
  }

  /** The chosen series, as far as the address names one. */
  get current(): Partial<Series> {
    return this.series
  }

  showSeries(series: Partial<Series>): void {
    this.series = series
    this.symbol.show(series.symbol ?? '')
    this.showIntervals()
  }

  showScale({ isLog, isLocal }: { isLog: boolean; isLocal: boolean }): void {
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
    for (const [interval, button] of this.intervals) {
      const isCurrent = interval === current
      // A mirror of a static service has no minutes.
      const offered: readonly Interval[] = this.coverage?.intervals ?? INTERVALS
      button.hidden = !isCurrent && !offered.includes(interval)
      button.setAttribute('aria-pressed', String(isCurrent))
      const isCached = cached?.includes(interval) ?? true
      button.classList.toggle('absent', !isCached)
      button.title = isCached ? `${interval} candles` : `${interval} candles: none in this mirror`
    }
  }

  /** Shows the visible time in the day picker and in the download links, ms UTC. */
  showRange({ symbol, interval }: Series, range: TimeRange | undefined): void {
    if (!range) return
    const { fromTime, toTime } = range
    if (document.activeElement !== this.day) this.day.value = this.dayOf(fromTime)
    for (const link of this.downloads) {
      const { format = 'csv' } = link.dataset
      link.href = `/export/${interval}/${encodeURIComponent(symbol)}.${format}?from=${formatTime(fromTime)}&to=${formatTime(toTime)}`
    }
  }

  /** The day of a time (ms UTC) in the chosen time zone, `YYYY-MM-DD`. */
  private dayOf(time: number): string {
    const offset = this.zone.value === 'local' ? new Date(time).getTimezoneOffset() * MINUTE_MS : 0
    return formatDate(time - offset)
  }
}
