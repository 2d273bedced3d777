import type { FittedCandles } from '../chart-candle.js'
import type { PriceScale } from '../price-scale.js'
import { type ChartSummary, formatVolume, isRising, maxVolume } from '../summary.js'
import { timeLabels } from '../time-axis.js'
import { slotX } from './candles.js'
import { FONT_SIZE, type Layout, labelWidth, type Rows } from './layout.js'
import type { Palette } from './picture-options.js'
import { element, escapeXml, pixels } from './xml.js'

/** The distance between labels of prices in pixels, about. */
const TICK_DISTANCE = 44
const BOX_HEIGHT = 18
/** From the middle of a line of text down to its baseline. */
const BASELINE = 4
/** From the candles to the labels of prices. */
const LABEL_GAP = 8
const LABEL_SPACE = 14
/** From the edge of the picture to the labels of times. */
const EDGE = 4

interface Axis {
  /** Lines behind the candles. */
  readonly grid: string
  readonly labels: string
}

/** Lines and labels of prices, without those that the last price covers. */
export function drawPriceAxis(layout: Layout, scale: PriceScale, lastY: number, ticks: number): Axis {
  const marks = scale.ticks(ticks).map(({ position, text }) => {
    return { text, y: Math.round(layout.priceBottom - position * (layout.priceBottom - layout.top)) + 0.5 }
  })
  const shown = marks.filter(({ y }) => Math.abs(y - lastY) >= BOX_HEIGHT)
  return {
    grid: marks.map(({ y }) => `M${layout.left} ${pixels(y)}H${layout.right}`).join(''),
    labels: shown
      .map(({ y, text }) => element('text', { x: layout.right + LABEL_GAP, y: y + BASELINE }, escapeXml(text)))
      .join('\n'),
  }
}

/** How many ticks an axis has room for. */
export function maxTicks({ top, priceBottom }: Rows): number {
  return Math.max(2, Math.floor((priceBottom - top) / TICK_DISTANCE))
}

/** Lines and labels of times. A label that would be cut off is moved, and one that would touch the one before left out. */
export function drawTimeAxis({ slots }: FittedCandles, layout: Layout, width: number): Axis {
  const { top, bottom, pitch } = layout
  const slotsFor = (characters: number) => Math.ceil((labelWidth(characters) + LABEL_SPACE) / pitch)
  const marks = timeLabels(
    slots.map(({ openTime }) => openTime),
    slotsFor,
  ).map(({ index, text }) => ({ text, x: slotX(layout, index) }))
  let end = Number.NEGATIVE_INFINITY
  const labels: string[] = []
  for (const { text, x } of marks) {
    const half = labelWidth(text.length) / 2
    const middle = Math.min(Math.max(x, EDGE + half), width - EDGE - half)
    if (middle - half < end) continue
    end = middle + half + LABEL_SPACE / 2
    labels.push(element('text', { x: middle, y: bottom + FONT_SIZE + 7, 'text-anchor': 'middle' }, escapeXml(text)))
  }
  return { grid: marks.map(({ x }) => `M${pixels(x)} ${top}V${bottom}`).join(''), labels: labels.join('\n') }
}

/** A dashed line at the last price, and its exact text on the axis. */
export function drawLastPrice(
  { last }: ChartSummary,
  text: string,
  layout: Layout,
  { y, width, palette }: { y: number; width: number; palette: Palette },
): string {
  const colour = isRising(last) ? palette.rising : palette.falling
  const { left, right } = layout
  const line = { d: `M${left} ${pixels(y)}H${right}`, stroke: colour, 'stroke-dasharray': '2 3' }
  const box = { x: right + 1, y: y - BOX_HEIGHT / 2, width: width - right - 3, height: BOX_HEIGHT, rx: 2, fill: colour }
  const label = { x: right + LABEL_GAP, y: y + BASELINE, fill: palette.onCandle, 'font-weight': '600' }
  return [element('path', line), element('rect', box), element('text', label, escapeXml(text))].join('\n')
}

/** The highest volume of a candle on the axis beside the bars. */
export function drawVolumeLabel(fitted: FittedCandles, { right, volumeTop }: Layout): string {
  const place = { x: right + LABEL_GAP, y: volumeTop + FONT_SIZE - 2 }
  return element('text', place, `${formatVolume(maxVolume(fitted.slots))} vol`)
}
