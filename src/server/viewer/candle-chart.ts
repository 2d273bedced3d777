import {
  CandlestickSeries,
  ColorType,
  CrosshairMode,
  createChart,
  HistogramSeries,
  type IRange,
  LineStyle,
  PriceScaleMode,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import { color } from './elements.js'
import { GapBands } from './gap-bands.js'
import type { Timeline } from './timeline.js'

/** Places without candles to the right of the newest one. */
const RIGHT_MARGIN = 3
/** Room for the volume below the candles, as a part of the height. */
const VOLUME_HEIGHT = 0.18
const MARGINS = { top: 0.06, bottom: VOLUME_HEIGHT + 0.04 }
const UNMARKED = { lastValueVisible: false, priceLineVisible: false }
const FONT = 'system-ui, sans-serif'
/** CSS pixels from one candle to the next. */
const DEFAULT_SPACING = 7
const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const FULL = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', ...CLOCK } as const
/** The marks of the time axis, in the order of the library's `TickMarkType`. */
const MARKS: Intl.DateTimeFormatOptions[] = [{ year: 'numeric' }, { month: 'short' }, { day: 'numeric' }, CLOCK]

/** Writes times (ms UTC) in UTC, or in the time zone of the browser: `Thu, 30 Apr 2026, 04:00 UTC`. */
export function timeFormat(
  isLocal: boolean,
  options: Intl.DateTimeFormatOptions = { ...FULL, timeZoneName: 'short' },
): (time: number) => string {
  const format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: isLocal ? undefined : 'UTC' })
  return time => format.format(time)
}

const toSeconds = (time: number) => (time / 1000) as UTCTimestamp

/** Candles, volume and bands of one timeline on a canvas. */
export class CandleChart {
  private readonly chart
  private readonly candles
  private readonly volume
  private readonly bands: GapBands
  /** At the close of the newest candle, which need not be visible. */
  private readonly newest
  private timeline: Timeline | undefined
  isDragged = false

  constructor(readonly element: HTMLElement) {
    this.chart = createChart(element, {
      autoSize: true,
      layout: { attributionLogo: false, fontFamily: FONT },
      rightPriceScale: { borderVisible: false, entireTextOnly: true, scaleMargins: MARGINS },
      timeScale: {
        borderVisible: false,
        timeVisible: true,
        secondsVisible: false,
        minBarSpacing: 0.01,
        barSpacing: DEFAULT_SPACING,
        // The labels of prices may become wider.
        lockVisibleTimeRangeOnResize: true,
      },
      crosshair: { mode: CrosshairMode.Normal },
      kineticScroll: { mouse: false, touch: true },
    })
    this.candles = this.chart.addSeries(CandlestickSeries, UNMARKED)
    this.newest = this.candles.createPriceLine({ price: 0, lineWidth: 1, lineStyle: LineStyle.Dotted })
    const volumeFormat = { priceScaleId: 'volume', priceFormat: { type: 'volume' } } as const
    this.volume = this.chart.addSeries(HistogramSeries, { ...UNMARKED, ...volumeFormat })
    this.volume.priceScale().applyOptions({ scaleMargins: { top: 1 - VOLUME_HEIGHT, bottom: 0 } })
    this.bands = new GapBands(this.chart, FONT)
    this.chart.panes()[0].attachPrimitive(this.bands)
    this.onMove(() => this.keepInView())
    element.addEventListener('pointerdown', () => (this.isDragged = true))
    for (const name of ['pointerup', 'pointercancel']) addEventListener(name, () => (this.isDragged = false))
    this.updateColors()
  }

  /** The same time stays visible when a timeline continues the one before. `isNewest`: mark the price of its newest candle. */
  setTimeline(timeline: Timeline, { continues, isNewest }: { continues: boolean; isNewest: boolean }): void {
    const { timeline: before, visible } = this
    const { decimals } = timeline
    // The axis goes on below the lowest price, but no price is negative.
    const formatter = (price: number) => (price < 0 ? '' : price.toFixed(decimals))
    this.candles.applyOptions({ priceFormat: { type: 'custom', formatter, minMove: 10 ** -decimals } })
    this.newest.applyOptions({ lineVisible: isNewest, axisLabelVisible: isNewest })
    this.drawData(timeline)
    if (!continues || !before?.length || !visible || this.isDragged) return
    // A visible place: the ends of the timeline may be dropped.
    const place = Math.max(0, Math.min(Math.ceil(visible.from), before.length - 1))
    const shift = timeline.indexFrom(before.openTime(place)) - place
    this.showPlaces({ from: visible.from + shift, to: visible.to + shift })
  }

  drawData(timeline?: Timeline): void {
    this.timeline = timeline
    this.bands.timeline = timeline
    const places = timeline?.places ?? []
    const last = timeline?.candle(timeline.length - 1)
    if (last)
      this.newest.applyOptions({ price: last.close, color: color(last.close < last.open ? 'falling' : 'rising') })
    const [rising, falling] = [color('rising-volume'), color('falling-volume')]
    this.candles.setData(places.map(place => ({ ...place, time: toSeconds(place.time) })))
    const volumes = places
      .filter(place => 'open' in place)
      .filter(({ volume }) => volume > 0)
      .map(({ time, open, close, volume }) => {
        return { time: toSeconds(time), value: volume, color: close >= open ? rising : falling }
      })
    this.volume.setData(volumes)
  }

  /** The visible places, by their indices; they may lie outside of the timeline. */
  get visible(): IRange<number> | undefined {
    return this.chart.timeScale().getVisibleLogicalRange() ?? undefined
  }

  showPlaces(places: IRange<number>): void {
    this.chart.timeScale().setVisibleLogicalRange(places)
  }

  /** At most half of the screen is blank on either side, or as much as too few candles leave. */
  private keepInView(): void {
    if (!this.visible || !this.timeline?.length) return
    const { from, to } = this.visible
    const blank = Math.max((to - from) / 2, to - from - this.timeline.length)
    const shift = Math.max(0, -blank - from) - Math.max(0, to - blank - this.timeline.length)
    if (Math.abs(shift) > 0.01) this.showPlaces({ from: from + shift, to: to + shift })
  }

  /** Shows the newest candles: `count` of them, or as many as fit in the default size. */
  showNewest(count = Math.round(this.element.clientWidth / DEFAULT_SPACING)): void {
    const to = (this.timeline?.length ?? 0) - 1 + RIGHT_MARGIN
    this.showPlaces({ from: to - count, to })
  }

  setLog(isLog: boolean): void {
    const mode = isLog ? PriceScaleMode.Logarithmic : PriceScaleMode.Normal
    this.chart.priceScale('right').applyOptions({ mode, autoScale: true })
  }

  setZone(isLocal: boolean): void {
    const [full, ...marks] = [FULL, ...MARKS].map(options => timeFormat(isLocal, options))
    this.chart.applyOptions({
      localization: { timeFormatter: (time: Time) => full((time as number) * 1000) },
      timeScale: { tickMarkFormatter: (time: Time, type: number) => marks[type]((time as number) * 1000) },
    })
  }

  updateColors(): void {
    const line = { color: color('crosshair'), labelBackgroundColor: color('ink') }
    const [grid, rising, falling] = [color('grid'), color('rising'), color('falling')]
    this.chart.applyOptions({
      layout: { background: { type: ColorType.Solid, color: color('paper') }, textColor: color('soft') },
      grid: { vertLines: { color: grid }, horzLines: { color: grid } },
      crosshair: { vertLine: line, horzLine: line },
    })
    this.candles.applyOptions({
      ...{ upColor: color('rising-body'), borderUpColor: rising, wickUpColor: rising },
      ...{ downColor: falling, borderDownColor: falling, wickDownColor: falling },
    })
    if (this.timeline) this.drawData(this.timeline)
  }

  onMove(callback: () => void): void {
    this.chart.timeScale().subscribeVisibleLogicalRangeChange(callback)
  }

  onCrosshair(callback: (index: number | undefined) => void): void {
    this.chart.subscribeCrosshairMove(({ logical, point }) => {
      callback(logical === undefined || !point ? undefined : Math.round(logical))
    })
  }
}
