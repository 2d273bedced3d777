import type { IChartApi, ISeriesApi, ISeriesPrimitive, Logical } from 'lightweight-charts'
import { plural } from '../../candles/text.js'
import { create } from './elements.js'
import { describeChange } from './legend.js'
import { formatLength, type Timeline } from './timeline.js'

/** Within so many CSS pixels of an open, high, low or close of its candle, a point has that price. */
const SNAP = 8

/** `time`: when a place of the timeline opens, ms UTC. */
type Point = Readonly<Record<'time' | 'price', number>>

/** A box between two points of the chart, drawn with Shift and the mouse, that says how far they are apart. */
export class Ruler implements ISeriesPrimitive {
  private readonly box = create('div', '', { id: 'ruler', hidden: '' })
  private readonly label = create('output', '', { id: 'ruler-label' })
  private ends: readonly [Point, Point] | undefined

  constructor(
    private readonly element: HTMLElement,
    private readonly chart: IChartApi,
    private readonly candles: ISeriesApi<'Candlestick'>,
    private readonly timeline: () => Timeline | undefined,
  ) {
    element.append(this.box, this.label)
    candles.attachPrimitive(this)
    // Before the page hears of it, which would keep the visible time in its address.
    element.addEventListener('pointerdown', event => this.press(event), { capture: true })
  }

  clear(): void {
    this.ends = undefined
    this.updateAllViews()
  }

  private press(event: PointerEvent): void {
    this.clear()
    const from = this.pointAt(event)
    if (!event.shiftKey || event.pointerType !== 'mouse' || !from) return
    event.stopImmediatePropagation()
    // The chart, which would move, gets no mouse events.
    event.preventDefault()
    this.element.onpointermove = move => {
      this.ends = [from, this.pointAt(move) ?? this.ends?.[1] ?? from]
      this.updateAllViews()
    }
    addEventListener('pointerup', () => (this.element.onpointermove = null), { once: true })
  }

  /** The place that is nearest to the pointer; undefined beside the candles. */
  private pointAt({ clientX, clientY }: PointerEvent): Point | undefined {
    const timeline = this.timeline()
    const { width, height } = this.chart.paneSize()
    const { left, top } = this.element.getBoundingClientRect()
    const [x, y] = [clientX - left, clientY - top]
    const [place, price] = [this.chart.timeScale().coordinateToLogical(x), this.candles.coordinateToPrice(y)]
    if (!timeline?.length || place === null || price === null || x > width || y > height) return undefined
    const index = Math.max(0, Math.min(Math.round(place), timeline.length - 1))
    const { open = price, high = price, low = price, close = price } = timeline.candle(index) ?? {}
    const distance = (other: number) => Math.abs((this.candles.priceToCoordinate(other) ?? Infinity) - y)
    const nearest = [open, high, low, close].sort((a, b) => distance(a) - distance(b))[0]
    return { time: timeline.openTime(index), price: distance(nearest) > SNAP ? price : nearest }
  }

  /** Called by the chart when anything in it has moved. */
  updateAllViews(): void {
    const { box, label, ends } = this
    const timeline = this.timeline()
    box.hidden = label.hidden = !ends || !timeline
    if (!ends || !timeline) return
    const places = ends.map(({ time }) => timeline.indexFrom(time)).sort((a, b) => a - b)
    const [left, right] = places.map(place => this.chart.timeScale().logicalToCoordinate(place as Logical) ?? 0)
    const [top, bottom] = ends.map(({ price }) => this.candles.priceToCoordinate(price) ?? 0).sort((a, b) => a - b)
    const [from, to] = ends.map(({ price }) => price.toFixed(timeline.decimals))
    const candles = timeline.places.slice(places[0] + 1, places[1] + 1).filter(place => 'open' in place).length
    const length = [formatLength(timeline.openTime(places[1]) - timeline.openTime(places[0]))].filter(Boolean)
    const change = (Number(to) - Number(from)).toFixed(timeline.decimals)
    const signed = change.startsWith('-') ? change.replace('-', '−') : `+${change}`
    label.textContent = [plural(candles, 'candle'), ...length, `${signed} (${describeChange(from, to)})`].join(', ')
    box.dataset.state = change.startsWith('-') ? 'falling' : 'rising'
    const { width, height } = this.chart.paneSize()
    const move = (part: HTMLElement, x: number, y: number) => (part.style.translate = `${x}px ${y}px`)
    move(box, left, top)
    ;[box.style.width, box.style.height] = [`${right - left}px`, `${bottom - top}px`]
    const middle = (left + right - label.offsetWidth) / 2
    move(label, Math.max(0, Math.min(middle, width - label.offsetWidth)), Math.min(bottom, height - label.offsetHeight))
  }
}
