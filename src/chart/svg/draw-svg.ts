import { trimDecimal } from '../../klines/batch/decimals.js'
import type { FittedCandles } from '../chart-candle.js'
import { buildPriceScale, summarize } from '../summary.js'
import { buildTitle, type ChartTitle } from '../title.js'
import { drawLastPrice, drawPriceAxis, drawTimeAxis, drawVolumeLabel, maxTicks } from './axes.js'
import { drawCandles, drawGaps, priceY } from './candles.js'
import { computeLayout, computeRows, FONT_SIZE, type Layout, LINE_HEIGHT, PADDING, TITLE_SIZE } from './layout.js'
import { PALETTES, type Palette, type PictureOptions } from './picture-options.js'
import { element, escapeXml } from './xml.js'

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
  const ticks = maxTicks(rows)
  const labels = [last, ...scale.ticks(ticks).map(({ text }) => text)]
  const labelLength = Math.max(VOLUME_LABEL_LENGTH, ...labels.map(({ length }) => length))
  const layout = computeLayout(rows, options, fitted.slots.length, labelLength)
  const y = priceY(layout, scale, Number(summary.last.close))
  const prices = drawPriceAxis(layout, scale, y, ticks)
  const times = drawTimeAxis(fitted, layout, width)
  const changeColour = summary.change?.startsWith('-') ? palette.falling : palette.rising
  const parts = [
    element('title', {}, escapeXml(`${title.name} candles`)),
    element('desc', {}, escapeXml(describe(title, note))),
    element('rect', { width: '100%', height: '100%', fill: palette.background }),
    drawGaps(fitted, layout, palette),
    element('path', { d: `${prices.grid}${times.grid}`, stroke: palette.grid }),
    drawCandles(fitted, layout, scale, palette),
    element('path', { d: `M${layout.left} ${layout.bottom + 0.5}H${layout.right}`, stroke: palette.border }),
    drawTexts(title, layout, palette, changeColour),
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

function drawTexts({ name, change }: ChartTitle, { lines }: Layout, palette: Palette, changeColour: string): string {
  const y = PADDING + TITLE_SIZE - 4
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
