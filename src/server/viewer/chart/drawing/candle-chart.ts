import {
  CandlestickSeries,
  ColorType,
  CrosshairMode,
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  PriceScaleMode,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import type { Timeline } from '../data/timeline.js'
import { GapBands } from './gap-bands.js'
import { type Palette, readPalette } from './palette.js'
import { TimeFormat } from './time-format.js'

/** Places without candles that are shown to the right of the newest one. */
const RIGHT_MARGIN = 3
/** Room for the volume below the candles, as a part of the height. */
const VOLUME_HEIGHT = 0.18
const FONT = 'system-ui, sans-serif'
/** CSS pixels from one candle to the next. */
const DEFAULT_SPACING = 7

/** The visible places, by their indices; they may lie outside of the timeline. */
export interface VisiblePlaces {
  readonly from: number
  readonly to: number
}

/** Candles, volume and bands of one timeline on a canvas. */
export class CandleChart {
  private readonly chart: IChartApi
  private readonly candles: ISeriesApi<'Candlestick'>
  private readonly volume: ISeriesApi<'Histogram'>
  private readonly bands: GapBands
  private palette = readPalette()
  private timeline: Timeline | undefined
  /** Whether a pointer drags the chart. */
  isDragged = false

  constructor(readonly element: HTMLElement) {
    this.chart = createChart(element, {
      autoSize: true,
      layout: { attributionLogo: false, fontFamily: FONT },
      rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.06, bottom: VOLUME_HEIGHT + 0.04 } },
      timeScale: { borderVisible: false, timeVisible: true, minBarSpacing: 0.01, barSpacing: DEFAULT_SPACING },
      crosshair: { mode: CrosshairMode.Normal },
      kineticScroll: { mouse: false, touch: true },
    })
    this.candles = this.chart.addSeries(CandlestickSeries)
    this.volume = this.chart.addSeries(HistogramSeries, {
      priceScaleId: 'volume',
      priceFormat: { type: 'volume' },
      lastValueVisible: false,
      priceLineVisible: false,
    })
    this.volume.priceScale().applyOptions({ scaleMargins: { top: 1 - VOLUME_HEIGHT, bottom: 0 } })
    this.bands = new GapBands(this.chart, this.palette, FONT)
    this.chart.panes()[0].attachPrimitive(this.bands)
    element.addEventListener('pointerdown', () => {
      this.isDragged = true
    })
    for (const name of ['pointerup', 'pointercancel']) {
      addEventListener(name, () => {
        this.isDragged = false
      })
    }
    this.applyPalette(this.palette)
    this.setTimeFormat(new TimeFormat(false))
  }

  /** Shows a timeline. The same time stays visible when it continues the one before. */
  setTimeline(timeline: Timeline, { continues = false } = {}): void {
    const { timeline: before, visible } = this
    this.timeline = timeline
    const { decimals } = timeline
    this.candles.applyOptions({ priceFormat: { type: 'price', precision: decimals, minMove: 10 ** -decimals } })
    this.drawData(timeline)
    if (!continues || !before?.length || !visible || this.isDragged) return
    // A visible place: the ends of the timeline may be dropped.
    const place = Math.max(0, Math.min(Math.ceil(visible.from), before.length - 1))
    const shift = timeline.indexFrom(before.openTime(place)) - place
    this.showPlaces({ from: visible.from + shift, to: visible.to + shift })
  }

  clear(): void {
    this.timeline = undefined
    this.bands.timeline = undefined
    this.candles.setData([])
    this.volume.setData([])
  }

  private drawData(timeline: Timeline): void {
    const { risingVolume, fallingVolume, rising, falling } = this.palette
    const last = timeline.candle(timeline.length - 1)
    this.candles.applyOptions({ priceLineColor: last && last.close < last.open ? falling : rising })
    this.bands.timeline = timeline
    this.candles.setData(timeline.places.map(place => ({ ...place, time: place.time as UTCTimestamp })))
    this.volume.setData(
      timeline.places.flatMap(place => {
        if (!('open' in place)) return []
        const color = place.close >= place.open ? risingVolume : fallingVolume
        return [{ time: place.time as UTCTimestamp, value: place.volume, color }]
      }),
    )
  }

  /** Whether the newest loaded candle is the newest that there is, so that its price is marked. */
  markLastPrice(isNewest: boolean): void {
    this.candles.applyOptions({ lastValueVisible: isNewest, priceLineVisible: isNewest })
  }

  get visible(): VisiblePlaces | undefined {
    return this.chart.timeScale().getVisibleLogicalRange() ?? undefined
  }

  showPlaces(places: VisiblePlaces): void {
    this.chart.timeScale().setVisibleLogicalRange(places)
  }

  /** Shows the newest candles of the timeline, `count` of them or as many as fit in the default size, with a margin. */
  showNewest(count = Math.round(this.element.clientWidth / DEFAULT_SPACING)): void {
    const to = (this.timeline?.length ?? 0) - 1 + RIGHT_MARGIN
    this.showPlaces({ from: to - count, to })
  }

  setLog(isLog: boolean): void {
    const mode = isLog ? PriceScaleMode.Logarithmic : PriceScaleMode.Normal
    this.chart.priceScale('right').applyOptions({ mode, autoScale: true })
  }

  setTimeFormat(format: TimeFormat): void {
    this.chart.applyOptions({
      localization: { timeFormatter: (time: Time) => format.text((time as number) * 1000) },
      timeScale: { tickMarkFormatter: (time: Time, type: number) => format.tick(time as number, type) },
    })
  }

  /** Draws again with the colours of the current theme. */
  updatePalette(): void {
    this.applyPalette(readPalette())
    if (this.timeline) this.drawData(this.timeline)
  }

  private applyPalette(palette: Palette): void {
    this.palette = palette
    this.bands.palette = palette
    const { paper, ink, soft, grid, crosshair, rising, risingBody, falling } = palette
    const line = { color: crosshair, labelBackgroundColor: ink }
    this.chart.applyOptions({
      layout: { background: { type: ColorType.Solid, color: paper }, textColor: soft },
      grid: { vertLines: { color: grid }, horzLines: { color: grid } },
      crosshair: { vertLine: line, horzLine: line },
    })
    this.candles.applyOptions({
      upColor: risingBody,
      borderUpColor: rising,
      wickUpColor: rising,
      downColor: falling,
      borderDownColor: falling,
      wickDownColor: falling,
    })
  }

  /** Calls back when other places become visible. */
  onMove(callback: () => void): void {
    this.chart.timeScale().subscribeVisibleLogicalRangeChange(callback)
  }

  /** Calls back with the place under the crosshair; undefined when it leaves. */
  onCrosshair(callback: (index: number | undefined) => void): void {
    this.chart.subscribeCrosshairMove(({ logical, point }) => {
      callback(logical === undefined || !point ? undefined : Math.round(logical))
    })
  }
}
