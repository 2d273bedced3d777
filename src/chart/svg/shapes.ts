import { escapeMarkup } from '../../candles/text.js'
import type { FittedCandles } from '../candle-fitter.js'
import { type ChartSummary, isRising } from '../summary.js'
import type { Layout, Palette } from './layout.js'

/** With one digit after the point: the same text on every machine. */
export function pixels(value: number): string {
  return String(Math.round(value * 10) / 10)
}

/** `<name a="1"/>`, or `<name a="1">content</name>`. Attributes are escaped, numbers rounded; `content` is XML. */
export function element(name: string, attributes: Readonly<Record<string, string | number>>, content?: string): string {
  const pairs = Object.entries(attributes).map(([key, value]) => {
    return ` ${key}="${typeof value === 'number' ? pixels(value) : escapeMarkup(value)}"`
  })
  return content === undefined ? `<${name}${pairs.join('')}/>` : `<${name}${pairs.join('')}>${content}</${name}>`
}

/** The part of its room that the body of a candle takes, and its largest width. */
const BODY_SHARE = 0.7
const MAX_BODY = 25
/** From this distance on, candles are placed on whole pixels, where their edges are sharp. */
const SHARP_PITCH = 4
/** Flat ones are visible, too. */
const MIN_BODY = 1
const MIN_BAR = 0.5

export function slotX({ left, pitch }: Layout, index: number): number {
  const middle = left + (index + 0.5) * pitch
  return pitch < SHARP_PITCH ? middle : Math.floor(middle) + 0.5
}

/** `position`: of `PriceScale`. */
export function positionY({ priceTop, priceBottom }: Layout, position: number): number {
  return priceBottom - position * (priceBottom - priceTop)
}

/** Bands over the whole height where candles are missing. */
export function drawGaps({ slots }: FittedCandles, { left, pitch, top, bottom }: Layout, { gap }: Palette): string {
  const bands: string[] = []
  for (let start = 0, end = 0; start < slots.length; start = end + 1) {
    end = start
    while (end < slots.length && slots[end].candle === undefined) end++
    if (end === start) continue
    const [from, to] = [start, end].map(index => pixels(left + index * pitch))
    bands.push(`M${from} ${top}H${to}V${bottom}H${from}z`)
  }
  return bands.length === 0 ? '' : element('path', { fill: gap, d: bands.join('') })
}

/** Wicks, bodies and bars of volume: one path of each for a colour keeps the file small. */
export function drawCandles({ slots }: FittedCandles, summary: ChartSummary, layout: Layout, palette: Palette): string {
  const { pitch, bottom, volumeTop } = layout
  // An odd width has its middle on a pixel, as the wick has.
  const sharpBody = Math.min(MAX_BODY, 2 * Math.floor((pitch * BODY_SHARE) / 2) + 1)
  const body = pitch < SHARP_PITCH ? pitch * BODY_SHARE : sharpBody
  const wick = Math.min(1, body / 2)
  const volumeScale = (bottom - volumeTop) / summary.maxVolume
  const draw = (rising: boolean, colour: string, volumeColour: string) => {
    const [wicks, bodies, bars]: string[][] = [[], [], []]
    for (const [index, { candle }] of slots.entries()) {
      if (candle === undefined || isRising(candle) !== rising) continue
      const x = pixels(slotX(layout, index))
      const toY = (price: string) => positionY(layout, summary.scale.position(Number(price)))
      wicks.push(`M${x} ${pixels(toY(candle.high))}V${pixels(toY(candle.low))}`)
      const ends = [toY(candle.open), toY(candle.close)]
      const rest = Math.max(0, MIN_BODY - Math.abs(ends[0] - ends[1])) / 2
      bodies.push(`M${x} ${pixels(Math.min(...ends) - rest)}V${pixels(Math.max(...ends) + rest)}`)
      const volume = Number(candle.volume)
      if (volume > 0) bars.push(`M${x} ${bottom}V${pixels(bottom - Math.max(MIN_BAR, volume * volumeScale))}`)
    }
    const stroke = (lines: string[], width: number, ink: string) =>
      lines.length === 0 ? [] : element('path', { stroke: ink, 'stroke-width': width, d: lines.join('') })
    return [stroke(bars, body, volumeColour), stroke(wicks, wick, colour), stroke(bodies, body, colour)].flat()
  }
  const { rising, falling, risingVolume, fallingVolume } = palette
  return [...draw(true, rising, risingVolume), ...draw(false, falling, fallingVolume)].join('\n')
}
