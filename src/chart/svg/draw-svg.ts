import { trimDecimal } from '../../rows/decimals.js'
import type { FittedCandles } from '../chart-candle.js'
import type { PriceTick } from '../price-scale.js'
import { buildPriceScale, type ChartSummary, formatVolume, isRising, maxVolume, summarize } from '../summary.js'
import { timeLabels } from '../time-axis.js'
import { buildTitle, type ChartTitle } from '../title.js'
import { drawCandles, drawGaps, priceY, slotX } from './candles.js'
import {
  computeLayout,
  computeRows,
  FONT_SIZE,
  type Layout,
  LINE_HEIGHT,
  labelWidth,
  PADDING,
  type Rows,
  TITLE_SIZE,
} from './layout.js'
import { PALETTES, type Palette, type PictureOptions } from './picture-options.js'
import { element, escapeXml, pixels } from './xml.js'

/** A picture is passed on without the summary that says this. */
export const SAMPLE_NOTE = 'synthetic sample data'
/** Space for `44.9K vol`. */
const VOLUME_LABEL_LENGTH = 9

/**
 * A picture of candles as SVG: a document of its own, without script, style sheet or reference, whose texts are texts. Returns
 * undefined when there is no candle. The same candles, options and `note`, which stands below the title, give the same text on every
 * machine.
 */
export function drawSvg(fitted: FittedCandles, options: PictureOptions, note?: string): string | undefined {
  const summary = summarize(fitted)
  if (summary === undefined) return undefined
  const { width, height, theme } = options
  const palette = PALETTES[theme]
  const title = buildTitle(fitted, summary)
  const last = trimDecimal(summary.last.close)
  const scale = buildPriceScale(summary, options.log)
  const rows = computeRows(options, [title.resampled, title.range, title.prices, note])
  const ticks = scale.ticks(maxTicks(rows))
  const labels = [last, ...ticks.map(({ text }) => text)]
  const labelLength = Math.max(VOLUME_LABEL_LENGTH, ...labels.map(({ length }) => length))
  const layout = computeLayout(rows, options, fitted.slots.length, labelLength)
  const y = priceY(layout, scale, Number(summary.last.close))
  const prices = drawPriceAxis(layout, ticks, y)
  const times = drawTimeAxis(fitted, layout, width)
  const parts = [
    element('title', {}, escapeXml(`${title.name} candles`)),
    element('desc', {}, escapeXml(describe(title, note))),
    element('rect', { width: '100%', height: '100%', fill: palette.background }),
    drawGaps(fitted, layout, palette),
    element('path', { d: `${prices.grid}${times.grid}`, stroke: palette.grid }),
    drawCandles(fitted, layout, scale, palette),
    element('path', { d: `M${layout.left} ${layout.bottom + 0.5}H${layout.right}`, stroke: palette.border }),
    drawTexts(title, layout, palette),
    element(
      'g',
      { fill: palette.label },
      [prices.labels, drawVolumeLabel(fitted, layout), times.labels].filter(Boolean).join('\n'),
    ),
    drawLastPrice(summary, last, layout, { y, width, palette }),
  ]
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    width: `${width}`,
    height: `${height}`,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'font-family': 'system-ui, sans-serif',
    'font-size': `${FONT_SIZE}`,
  }
  return `${element('svg', attributes, `\n${parts.filter(Boolean).join('\n')}\n`)}\n`
}

/** What a screen reader says. */
function describe({ range, resampled, change, prices }: ChartTitle, note: string | undefined): string {
  return [range, resampled, change && `change ${change}`, prices, note].filter(Boolean).join('. ')
}

function drawTexts({ name, change }: ChartTitle, { lines }: Layout, palette: Palette): string {
  const y = PADDING + TITLE_SIZE - 4
  const changeColour = change?.startsWith('-') ? palette.falling : palette.rising
  const changeText = change && element('tspan', { dx: '8', 'font-size': '15', fill: changeColour }, escapeXml(change))
  const title = element(
    'text',
    { x: PADDING, y, 'font-size': `${TITLE_SIZE}`, 'font-weight': '600', fill: palette.text },
    `${escapeXml(name)}${changeText ?? ''}`,
  )
  const texts = lines.map((line, index) => {
    return element('text', { x: PADDING, y: y + (index + 1) * LINE_HEIGHT + 2, fill: palette.label }, escapeXml(line))
  })
  return [title, ...texts].join('\n')
}

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
function drawPriceAxis(layout: Layout, ticks: readonly PriceTick[], lastY: number): Axis {
  const marks = ticks.map(({ position, text }) => {
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
function maxTicks({ top, priceBottom }: Rows): number {
  return Math.max(2, Math.floor((priceBottom - top) / TICK_DISTANCE))
}

/** Lines and labels of times. A label that would be cut off is moved, and one that would touch the one before left out. */
function drawTimeAxis({ slots }: FittedCandles, layout: Layout, width: number): Axis {
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
function drawLastPrice(
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
function drawVolumeLabel(fitted: FittedCandles, { right, volumeTop }: Layout): string {
  const place = { x: right + LABEL_GAP, y: volumeTop + FONT_SIZE - 2 }
  return element('text', place, `${formatVolume(maxVolume(fitted.slots))} vol`)
}
