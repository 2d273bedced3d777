import { EXCHANGE_INTERVALS, INTERVALS, type Interval, MINUTE_MS } from '../../../../klines/intervals.js'
import type { Series } from '../../../../klines/series.js'
import { toSymbolName } from '../../../../klines/symbols.js'
import type { TimeRange } from '../../../../klines/time-range.js'
import { formatDate } from '../../../../klines/windows.js'
import { formatTime } from '../address.js'
import type { Coverage } from '../data/service.js'
import { create, element } from '../element.js'

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
  private readonly symbol = element<HTMLInputElement>('symbol')
  private readonly bar = element('intervals')
  private readonly intervals: ReadonlyMap<Interval, HTMLButtonElement>
  private readonly log = element<HTMLInputElement>('log')
  private readonly zone = element<HTMLSelectElement>('zone')
  private readonly day = element<HTMLInputElement>('day')
  private readonly downloads = [...document.querySelectorAll<HTMLAnchorElement>('a[data-format]')]
  private series: Series | undefined
  private coverage: Coverage | undefined

  constructor(private readonly actions: ToolbarActions) {
    this.intervals = new Map(
      EXCHANGE_INTERVALS.map(interval => {
        const button = create('button', interval, { type: 'button', 'aria-pressed': 'false' })
        button.addEventListener('click', () => actions.interval(interval))
        this.bar.append(button)
        return [interval, button]
      }),
    )
    this.listenToSymbol()
    this.log.addEventListener('change', () => actions.log(this.log.checked))
    this.zone.addEventListener('change', () => actions.zone(this.zone.value === 'local'))
    this.day.addEventListener('change', () => this.day.value && actions.day(this.day.value))
  }

  /** The input is empty while it has the focus, because a browser only suggests what begins with its text. */
  private listenToSymbol(): void {
    const { symbol } = this
    const restore = () => {
      symbol.value = this.series?.symbol ?? ''
    }
    symbol.addEventListener('focus', () => {
      symbol.placeholder = symbol.value
      symbol.value = ''
    })
    symbol.addEventListener('blur', restore)
    symbol.addEventListener('change', () => {
      const chosen = toSymbolName(symbol.value)
      if (chosen === '') return
      this.actions.symbol(chosen)
      symbol.blur()
    })
    symbol.addEventListener('keydown', ({ key }) => key === 'Escape' && symbol.blur())
  }

  /** The chosen series. */
  get current(): Series | undefined {
    return this.series
  }

  showSeries(series: Series): void {
    this.series = series
    this.symbol.value = series.symbol
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
    element('symbols').replaceChildren(
      ...coverage.symbols.map(symbol =>
        create('option', '', { value: symbol, label: cached.has(symbol) ? '' : 'not in this mirror' }),
      ),
    )
    this.showIntervals()
  }

  private showIntervals(): void {
    const { symbol, interval: current } = this.series ?? {}
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
    if (current) this.scrollTo(current)
  }

  /** Scrolls the bar to an interval. `scrollIntoView` would also move the place from which Tab goes on. */
  private scrollTo(interval: Interval): void {
    const button = this.intervals.get(interval)?.getBoundingClientRect()
    if (!button) return
    const { left, right } = this.bar.getBoundingClientRect()
    if (button.left < left) this.bar.scrollLeft -= left - button.left
    else if (button.right > right) this.bar.scrollLeft += button.right - right
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
