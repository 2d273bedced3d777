import { escapeMarkup } from '../../candles/text.js'
import type { FittedCandles } from '../candle-fitter.js'
import { type ChartSummary, isRising, summarize } from '../summary.js'
import { timeLabels } from '../time-axis.js'
import type { Layout, Palette, PictureOptions } from './layout.js'
import { FONT_SIZE, LINE_HEIGHT, labelWidth, layOut, PADDING, PALETTES, TITLE_SIZE } from './layout.js'
import { drawCandles, drawGaps, element, pixels, positionY, slotX } from './shapes.js'

export const SAMPLE_NOTE = 'synthetic sample data'
const BOX_HEIGHT = 18
/** From the middle of a text down to its baseline. */
const BASELINE = 4
/** From the candles to the labels of prices. */
const LABEL_GAP = 8
const LABEL_SPACE = 14
/** From the edge of the picture to the labels of times. */
const EDGE = 4

/**
 * A picture of candles as SVG: a document of its own, without script, style sheet or reference. The same input gives the same text on
 * every machine; undefined without a candle. `note` stands below the title.
 */
export function drawSvg(fitted: FittedCandles, options: PictureOptions, note?: string): string | undefined {
  const summary = summarize(fitted, options.log)
  if (summary === undefined) return undefined
  const { title, scale, last, change } = summary
  const { width, height, theme } = options
  const palette = PALETTES[theme]
  const layout = layOut(summary, fitted.slots.length, options, note)
  const lastY = positionY(layout, scale.position(Number(last.close)))
  const prices = drawPriceAxis(layout, lastY)
  const times = drawTimeAxis(fitted, layout, width)
  // What a screen reader says.
  const description = [title.range, title.resampled, change && `change ${change}`, title.prices, note]
  const volume = { x: layout.right + LABEL_GAP, y: layout.volumeTop + FONT_SIZE - 2 }
  const labels = [prices.labels, element('text', volume, summary.volumeText), times.labels]
  const parts = [
    element('title', {}, escapeMarkup(`${title.name} candles`)),
    element('desc', {}, escapeMarkup(joinParts(description, '. '))),
    element('rect', { width: '100%', height: '100%', fill: palette.background }),
    drawGaps(fitted, layout, palette),
    element('path', { d: `${prices.grid}${times.grid}`, stroke: palette.grid }),
    drawCandles(fitted, summary, layout, palette),
    element('path', { d: `M${layout.left} ${layout.bottom + 0.5}H${layout.right}`, stroke: palette.border }),
    drawTexts(summary, layout, palette),
    element('g', { fill: palette.label }, joinParts(labels, '\n')),
    drawLastPrice(summary, layout, palette, lastY, width),
  ]
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`
  const font = `font-family="system-ui, sans-serif" font-size="${FONT_SIZE}"`
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" ${font}>`
  return `${head}\n${joinParts(parts, '\n')}\n</svg>\n`
}

function joinParts(parts: readonly (string | undefined)[], separator: string): string {
  return parts.filter(Boolean).join(separator)
}

function drawTexts({ title, change }: ChartSummary, { lines }: Layout, palette: Palette): string {
  const y = PADDING + TITLE_SIZE - 4
  const ink = change?.startsWith('-') ? palette.falling : palette.rising
  const changeText = change && element('tspan', { dx: '8', 'font-size': '15', fill: ink }, change)
  const style = { x: PADDING, y, 'font-size': `${TITLE_SIZE}`, 'font-weight': '600', fill: palette.text }
  const texts = lines.map((line, index) => {
    const place = { x: PADDING, y: y + (index + 1) * LINE_HEIGHT + 2, fill: palette.label }
    return element('text', place, escapeMarkup(line))
  })
  return [element('text', style, `${escapeMarkup(title.name)}${changeText ?? ''}`), ...texts].join('\n')
}

/** Labels of prices and lines behind the candles, without those whose label the last price would cover. */
function drawPriceAxis(layout: Layout, lastY: number) {
  const { left, right, ticks } = layout
  const marks = ticks
    .map(({ position, text }) => ({ text, y: Math.round(positionY(layout, position)) + 0.5 }))
    .filter(({ y }) => Math.abs(y - lastY) >= BOX_HEIGHT)
  const labels = marks.map(({ y, text }) => element('text', { x: right + LABEL_GAP, y: y + BASELINE }, text))
  return { grid: marks.map(({ y }) => `M${left} ${pixels(y)}H${right}`).join(''), labels: labels.join('\n') }
}

/** Lines and labels of times, without those that would touch the one before. */
function drawTimeAxis({ slots }: FittedCandles, layout: Layout, width: number) {
  const { pitch, top, bottom } = layout
  const openTimes = slots.map(({ openTime }) => openTime)
  const times = timeLabels(openTimes, characters => Math.ceil((labelWidth(characters) + LABEL_SPACE) / pitch))
  const marks = times.map(({ index, text }) => ({ text, x: slotX(layout, index) }))
  let end = -Infinity
  const labels: string[] = []
  for (const { text, x } of marks) {
    const half = labelWidth(text.length) / 2
    const middle = Math.min(Math.max(x, EDGE + half), width - EDGE - half)
    if (middle - half < end) continue
    end = middle + half + LABEL_SPACE / 2
    labels.push(element('text', { x: middle, y: bottom + FONT_SIZE + 7, 'text-anchor': 'middle' }, text))
  }
  return { grid: marks.map(({ x }) => `M${pixels(x)} ${top}V${bottom}`).join(''), labels: labels.join('\n') }
}

/** A dashed line at the last price, and its exact text on the axis. */
function drawLastPrice(summary: ChartSummary, layout: Layout, palette: Palette, y: number, width: number): string {
  const { left, right } = layout
  const colour = isRising(summary.last) ? palette.rising : palette.falling
  const line = { d: `M${left} ${pixels(y)}H${right}`, stroke: colour, 'stroke-dasharray': '2 3' }
  const box = { x: right + 1, y: y - BOX_HEIGHT / 2, width: width - right - 3, height: BOX_HEIGHT, rx: 2, fill: colour }
  const label = { x: right + LABEL_GAP, y: y + BASELINE, fill: palette.onCandle, 'font-weight': '600' }
  return [element('path', line), element('rect', box), element('text', label, summary.lastText)].join('\n')
}
