import { type Series, seriesName } from '../../candles/series.js'
import { isSymbol } from '../../candles/symbols.js'
import type { TimeRange } from '../../candles/time-range.js'
import { chooseSeries, FIRST_CHOICE } from './absence.js'
import { type Address, formatAddress, parseAddress } from './address.js'
import { listenToKeys, offerThemes } from './controls.js'
import { element } from './elements.js'
import { type Coverage, readCoverage } from './service.js'
import { Toolbar } from './toolbar.js'
import { Viewer } from './viewer.js'

/** Browsers limit how often an address may change. */
const ADDRESS_DELAY_MS = 250

/** How far an arrow moves, in screens, and how many candles of a screen stay in it when a key zooms in. */
const STEP = 0.1
const ZOOM = 0.8

/** The page: the viewer, its controls and its address, which holds the state. */
class Page {
  private readonly viewer = new Viewer(() => this.moved())
  private readonly toolbar: Toolbar
  private address: Address = parseAddress(location)
  /** The address names the visible time only after somebody moved it: without one, it means the newest candles. */
  private namesTime = false
  private addressTimer: number | undefined
  private coverage: Promise<Coverage> | undefined

  constructor() {
    const { view } = this.viewer
    offerThemes(() => view.chart.updateColors())
    this.toolbar = new Toolbar({
      series: change => this.switchTo(change),
      scale: change => {
        this.address = { ...this.address, ...change }
        this.applyScale()
        this.showTime()
      },
      jump: time => this.byHand(() => this.viewer.jump(time)),
    })
    for (const name of ['pointerdown', 'wheel', 'touchstart'])
      view.chart.element.addEventListener(name, () => this.byHand(() => {}), { passive: true, capture: true })
    const help = () => element<HTMLDialogElement>('help-dialog').showModal()
    const pan = (direction: number) => (isShifted: boolean) =>
      this.byHand(() => view.pan(isShifted ? direction : direction * STEP))
    const zoom = (factor: number) => () => this.byHand(() => view.zoom(factor))
    listenToKeys({
      ArrowLeft: pan(-1),
      ArrowRight: pan(1),
      '+': zoom(ZOOM),
      '=': zoom(ZOOM),
      '-': zoom(1 / ZOOM),
      Home: () => this.byHand(() => this.viewer.showFirst()),
      End: () => this.byHand(() => this.viewer.showNewest()),
      '?': help,
    })
    element('help').addEventListener('click', help)
    element('symbol').addEventListener('focus', () => void this.showCoverage(), { once: true })
    addEventListener('popstate', () => void this.openAddress())
  }

  /** Opens what the address of the page names. */
  async openAddress(): Promise<void> {
    const address = parseAddress(location)
    this.address = address
    this.namesTime = address.range !== undefined
    this.applyScale()
    const { viewer, toolbar } = this
    await viewer.start(async signal => {
      const choice = await chooseSeries(address, signal)
      signal.throwIfAborted()
      if ('problem' in choice) {
        toolbar.showSeries(isSymbol(address.symbol) ? { symbol: address.symbol } : {})
        return viewer.refuse(choice)
      }
      toolbar.showSeries(choice)
      document.title = `${seriesName(choice)} – klines`
      await viewer.open(choice, address.range, signal)
      if (address.problem) viewer.messages.show(address.problem)
    })
  }

  /** Lists what there is; not before the first candles or a look for a symbol, because it takes a while in a large mirror. */
  async showCoverage(): Promise<void> {
    this.coverage ??= readCoverage()
    this.toolbar.showCoverage(await this.coverage)
  }

  /** Shows another series at the same time, or its newest candles when the newest ones are visible. */
  private switchTo(change: Partial<Series>): void {
    const { view } = this.viewer
    const before: Series = { ...FIRST_CHOICE, ...this.toolbar.series }
    const series = { ...before, ...change }
    let range: TimeRange | undefined
    if (this.namesTime && !view.isAtNewest)
      range = series.interval === before.interval ? view.visibleRange : view.rangeFor(series.interval)
    history.pushState(null, '', formatAddress(series, { ...this.address, range }))
    void this.openAddress()
  }

  private byHand(move: () => unknown): void {
    this.namesTime = true
    move()
  }

  private applyScale(): void {
    this.toolbar.showScale(this.address)
    this.viewer.view.chart.setLog(this.address.isLog)
    this.viewer.view.setZone(this.address.isLocal)
  }

  /** Shows the visible time in the controls, and in the address a moment later. */
  private moved(): void {
    this.showTime({ inAddress: false })
    this.addressTimer ??= setTimeout(() => {
      this.addressTimer = undefined
      this.showTime()
    }, ADDRESS_DELAY_MS)
  }

  private showTime({ inAddress = true } = {}): void {
    const { session, visibleRange } = this.viewer.view
    if (!session) return
    const { series } = session.windows
    if (visibleRange) this.toolbar.showRange(series, visibleRange)
    const range = this.namesTime ? visibleRange : undefined
    const address = formatAddress(series, { ...this.address, range })
    if (inAddress && address !== location.pathname + location.search) history.replaceState(null, '', address)
  }
}

const page = new Page()
await page.openAddress()
await page.showCoverage()
