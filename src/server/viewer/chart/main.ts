import { type Series, seriesName } from '../../../klines/series.js'
import { isSymbol } from '../../../klines/symbols.js'
import type { TimeRange } from '../../../klines/time-range.js'
import { type Address, formatAddress, parseAddress } from './address.js'
import { type Absence, chooseSeries, FIRST_CHOICE } from './choice.js'
import { listenToKeys } from './controls/keyboard.js'
import { ThemeButton } from './controls/theme.js'
import { Toolbar } from './controls/toolbar.js'
import { type Coverage, readCoverage } from './data/service.js'
import { TimeFormat } from './drawing/time-format.js'
import { element } from './element.js'
import { Viewer } from './viewer.js'

/** Browsers limit how often an address may change. */
const ADDRESS_DELAY_MS = 250

/** The page: the viewer, its controls and its address. */
class Page {
  /** Before the chart, which reads its colours from the theme. */
  private readonly theme = new ThemeButton()
  private readonly viewer = new Viewer(() => this.moved())
  private readonly toolbar: Toolbar
  private coverage: Promise<Coverage> | undefined
  private choosing = new AbortController()
  private isLog = false
  private isLocal = false
  /** The address names the visible time only after somebody moved it: without one, it means the newest candles. */
  private namesTime = false
  private addressTimer: number | undefined

  constructor() {
    this.theme.onChange(() => this.viewer.view.chart.updatePalette())
    this.toolbar = new Toolbar({
      symbol: symbol => this.switchTo({ symbol }),
      interval: interval => this.switchTo({ interval }),
      log: isLog => this.setScale(isLog, this.isLocal),
      zone: isLocal => this.setScale(this.isLog, isLocal),
      day: date => this.jump(date),
    })
    const { viewer } = this
    const { view, loader } = viewer
    for (const name of ['pointerdown', 'wheel', 'touchstart'])
      view.chart.element.addEventListener(name, () => this.startNamingTime(), { passive: true, capture: true })
    const help = () => element<HTMLDialogElement>('help-dialog').showModal()
    listenToKeys({
      pan: screens => this.byHand(() => view.pan(screens)),
      zoom: factor => this.byHand(() => view.zoom(factor)),
      first: () => this.byHand(() => loader.showFirst()),
      newest: () => this.byHand(() => loader.showNewest()),
      help,
    })
    element('help').addEventListener('click', help)
    element('symbol').addEventListener('focus', () => void this.showCoverage(), { once: true })
    addEventListener('popstate', () => void this.openAddress())
  }

  /** Opens what the address of the page names. */
  async openAddress(): Promise<void> {
    const address = parseAddress(location)
    this.choosing.abort()
    this.choosing = new AbortController()
    const { signal } = this.choosing
    this.applyScale(address.isLog, address.isLocal)
    this.namesTime = address.range !== undefined
    try {
      await this.viewer.activity.during(async () => {
        const choice = await chooseSeries(address, signal)
        if (signal.aborted) return
        if ('problem' in choice) return this.refuse(address, choice)
        await this.open(choice, address.range)
        if (!signal.aborted && address.problem) this.viewer.message.show(address.problem)
      })
    } catch (error) {
      if (!signal.aborted) this.viewer.message.show((error as Error).message, { retry: () => void this.openAddress() })
    }
  }

  private refuse({ symbol }: Address, absence: Absence): void {
    this.toolbar.showSeries(isSymbol(symbol) ? { symbol } : {})
    this.viewer.refuse(absence)
  }

  private async open(series: Series, range?: TimeRange): Promise<void> {
    this.toolbar.showSeries(series)
    document.title = `${seriesName(series)} – klines`
    await this.viewer.open(series, range)
  }

  /** Lists what there is; not before the first candles or a look for a symbol, because it takes a while in a large mirror. */
  async showCoverage(): Promise<void> {
    this.coverage ??= readCoverage()
    this.toolbar.showCoverage(await this.coverage)
  }

  /** Shows another series at the same time, or its newest candles when the newest ones are visible. */
  private switchTo(change: Partial<Series>): void {
    const { view } = this.viewer
    const { toolbar } = this
    const before: Series = { ...FIRST_CHOICE, ...toolbar.current }
    const series = { ...before, ...change }
    let range: TimeRange | undefined
    if (this.namesTime && !view.isAtNewest)
      range = series.interval === before.interval ? view.visibleRange : view.rangeFor(series.interval)
    history.pushState(null, '', this.address(series, range))
    void this.openAddress()
  }

  private jump(date: string): void {
    const time = Date.parse(this.isLocal ? `${date}T00:00` : date)
    this.byHand(() => this.viewer.loader.jump(time))
  }

  private byHand(move: () => unknown): void {
    this.startNamingTime()
    move()
  }

  private startNamingTime(): void {
    this.namesTime = true
  }

  /** Shows the visible time in the controls, and in the address a moment later. */
  private moved(): void {
    this.showRange()
    this.addressTimer ??= setTimeout(() => {
      this.addressTimer = undefined
      this.updateAddress()
    }, ADDRESS_DELAY_MS)
  }

  private showRange(): void {
    const { series, visibleRange } = this.viewer.view
    if (series) this.toolbar.showRange(series, visibleRange)
  }

  private updateAddress(): void {
    const { series, visibleRange } = this.viewer.view
    if (!series) return
    const address = this.address(series, this.namesTime ? visibleRange : undefined)
    if (address !== location.pathname + location.search) history.replaceState(null, '', address)
  }

  private address(series: Series, range: TimeRange | undefined): string {
    return formatAddress(series, { range, isLog: this.isLog, isLocal: this.isLocal })
  }

  private setScale(isLog: boolean, isLocal: boolean): void {
    this.applyScale(isLog, isLocal)
    this.showRange()
    this.updateAddress()
  }

  private applyScale(isLog: boolean, isLocal: boolean): void {
    ;[this.isLog, this.isLocal] = [isLog, isLocal]
    this.toolbar.showScale({ isLog, isLocal })
    this.viewer.view.chart.setLog(isLog)
    this.viewer.view.setTimeFormat(new TimeFormat(isLocal))
  }
}

const page = new Page()
await page.openAddress()
await page.showCoverage()
