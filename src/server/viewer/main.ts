import { EXCHANGE_INTERVALS, INTERVALS, type Interval, MINUTE_MS } from '../../candles/intervals.js'
import { type Series, seriesName } from '../../candles/series.js'
import { isSymbol } from '../../candles/symbols.js'
import { formatDate } from '../../candles/windows.js'
import { isMultiple, parseTargetInterval } from '../../rows/target-interval.js'
import { chooseSeries, FIRST_CHOICE } from './absence.js'
import { type Address, formatAddress, formatTime, parseAddress } from './address.js'
import { create, element, listenToKeys, offerThemes } from './elements.js'
import { type Coverage, ROOT, readCoverage } from './service.js'
import { SymbolBox } from './symbol-box.js'
import { Viewer } from './viewer.js'

/** Browsers limit how often an address may change. */
const ADDRESS_DELAY_MS = 250

/** How far an arrow moves, in screens, and what part of a screen stays when a key zooms in. */
const STEP = 0.1
const ZOOM = 0.8

/** The page: the viewer, the controls above it, and its address, which holds the state. */
class Page {
  private readonly viewer = new Viewer(() => this.moved())
  private readonly symbol = new SymbolBox(symbol => this.switchTo({ symbol }))
  private readonly intervals = new Map<Interval, HTMLButtonElement>()
  private readonly log = element<HTMLInputElement>('log')
  private readonly zone = element<HTMLSelectElement>('zone')
  private readonly day = element<HTMLInputElement>('day')
  private address: Address = parseAddress(location)
  private series: Partial<Series> = {}
  /** Whether the address names the visible time: only after somebody moved it; else it means the newest candles. */
  private namesTime = false
  private addressTimer: number | undefined
  private coverage: Coverage | undefined

  constructor() {
    const { viewer, log, zone, day } = this
    // Its address is another one for each address of the page.
    element<HTMLAnchorElement>('home').href = ROOT
    offerThemes(() => viewer.chart.updateColors())
    for (const interval of EXCHANGE_INTERVALS) {
      const button = create('button', interval, { type: 'button', 'aria-pressed': 'false' })
      button.addEventListener('click', () => this.switchTo({ interval }))
      element('intervals').append(button)
      this.intervals.set(interval, button)
    }
    log.addEventListener('change', () => this.scale({ isLog: log.checked }))
    zone.addEventListener('change', () => this.scale({ isLocal: zone.value === 'local' }))
    day.addEventListener('change', () => {
      const time = Date.parse(zone.value === 'local' ? `${day.value}T00:00` : day.value)
      if (day.value) this.byHand(() => viewer.jump(time))
    })
    for (const name of ['pointerdown', 'wheel', 'touchstart'])
      viewer.chart.element.addEventListener(name, () => this.byHand(() => {}), { passive: true, capture: true })
    const pan = (direction: number) => (isShifted: boolean) =>
      this.byHand(() => viewer.pan(isShifted ? direction : direction * STEP))
    const zoom = (factor: number) => () => this.byHand(() => viewer.zoom(factor))
    listenToKeys({
      ArrowLeft: pan(-1),
      ArrowRight: pan(1),
      '+': zoom(ZOOM),
      '=': zoom(ZOOM),
      '-': zoom(1 / ZOOM),
      Home: () => this.byHand(() => viewer.showFirst()),
      End: () => this.byHand(() => viewer.showNewest()),
      '/': () => element('symbol').focus(),
    })
    element('symbol').addEventListener('focus', () => void this.showCoverage(), { once: true })
    addEventListener('popstate', () => void this.openAddress())
  }

  async openAddress(): Promise<void> {
    const { viewer } = this
    const address = parseAddress(location)
    this.address = address
    this.namesTime = address.range !== undefined
    this.applyScale()
    await viewer.start(async signal => {
      const choice = await chooseSeries(address, signal)
      signal.throwIfAborted()
      const isFound = !('problem' in choice)
      this.series = isFound ? choice : isSymbol(address.symbol) ? { symbol: address.symbol } : {}
      this.symbol.show(this.series.symbol ?? '')
      this.showIntervals()
      if (!isFound) return viewer.refuse(choice)
      document.title = `${seriesName(choice)} – klines`
      await viewer.open(choice, address.range, signal)
      if (address.problem) viewer.messages.show(address.problem)
    })
  }

  /** Lists what there is. In a large mirror that takes a while, so the first candles come before it. */
  async showCoverage(): Promise<void> {
    this.coverage ??= await readCoverage()
    this.symbol.setSymbols(this.coverage.symbols)
    this.showIntervals()
  }

  /** Marks the chosen interval, and those that the mirror has of the symbol. */
  private showIntervals(): void {
    const { coverage } = this
    const { symbol, interval: current } = this.series
    const offered: readonly Interval[] = coverage?.intervals ?? INTERVALS
    const cached = coverage?.series.filter(one => one.symbol === symbol).map(one => one.interval) ?? []
    for (const [interval, button] of this.intervals) {
      const isCurrent = interval === current
      const isCached = !coverage || cached.includes(interval)
      const isMade = cached.some(shorter => isMultiple(parseTargetInterval(interval), shorter))
      const isAbsent = !isCached && !isMade && !coverage.upstream
      const origin = coverage?.upstream ? 'downloaded when shown' : 'made of shorter ones'
      button.hidden = !isCurrent && !offered.includes(interval)
      button.ariaPressed = String(isCurrent)
      button.classList.toggle('absent', isAbsent)
      button.title = `${interval} candles${isCached ? '' : `: ${isAbsent ? 'none in this mirror' : origin}`}`
    }
  }

  /** Shows another series at the same time, or its newest candles when the newest ones are visible. */
  private switchTo(change: Partial<Series>): void {
    const { viewer } = this
    const series: Series = { ...FIRST_CHOICE, ...this.series, ...change }
    const range = this.namesTime && !viewer.isAtNewest ? viewer.visibleRange(series.interval) : undefined
    history.pushState(null, '', formatAddress(series, { ...this.address, range }))
    void this.openAddress()
  }

  private byHand(move: () => unknown): void {
    this.namesTime = true
    move()
  }

  private scale(change: Partial<Pick<Address, 'isLog' | 'isLocal'>>): void {
    this.address = { ...this.address, ...change }
    this.applyScale()
    this.showTime()
  }

  private applyScale(): void {
    const { isLog, isLocal } = this.address
    this.log.checked = isLog
    this.zone.value = isLocal ? 'local' : 'utc'
    this.viewer.chart.setLog(isLog)
    this.viewer.setZone(isLocal)
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
    const { windows } = this.viewer
    if (!windows) return
    const range = this.viewer.visibleRange()
    if (range) {
      const offset = this.address.isLocal ? new Date(range.fromTime).getTimezoneOffset() * MINUTE_MS : 0
      if (document.activeElement !== this.day) this.day.value = formatDate(range.fromTime - offset)
      const query = `from=${formatTime(range.fromTime)}&to=${formatTime(range.toTime)}`
      for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-format]'))
        link.href = ROOT + windows.exportPath(String(link.dataset.format), query)
    }
    const address = formatAddress(windows.series, { ...this.address, range: this.namesTime ? range : undefined })
    if (inAddress && address !== location.pathname + location.search) history.replaceState(null, '', address)
  }
}

const page = new Page()
await page.openAddress()
await page.showCoverage()
