import type { Slot } from '../chart-candle.js'
import type { PriceScale } from '../price-scale.js'
import { isRising, maxVolume } from '../summary.js'
import type { Ink } from './cells.js'
import { BODY, candleGlyph, type GlyphStyle, type Half, NOTHING, volumeGlyph, WICK } from './glyphs.js'

/** A character of a plot. */
export interface Cell {
  readonly character: string
  readonly ink: Ink
}

const BLANK: Cell = { character: ' ', ink: 'plain' }

/** Which half rows a candle fills: all from the lowest to the highest step, 0 at the bottom. */
interface Steps {
  readonly high: number
  readonly low: number
  readonly bodyTop: number
  readonly bodyBottom: number
}

/**
 * The step of a price, in `rows` rows of two steps each: 0 at the bottom. A row has two steps, so that a candle can begin and
 * end in the middle of a character.
 */
export function stepOf(scale: PriceScale, price: number, rows: number): number {
  return Math.min(2 * rows - 1, Math.max(0, Math.floor(scale.position(price) * 2 * rows)))
}

/** The candle of each slot as a column of cells, from the top row to the bottom one. A missing candle is blank. */
export function priceColumns(
  slots: readonly Slot[],
  scale: PriceScale,
  rows: number,
  style: GlyphStyle,
): readonly Cell[][] {
  return slots.map(({ candle }) => {
    if (candle === undefined) return Array.from({ length: rows }, () => BLANK)
    const step = (price: string) => stepOf(scale, Number(price), rows)
    const [open, close] = [step(candle.open), step(candle.close)]
    const steps = {
      high: step(candle.high),
      low: step(candle.low),
      bodyTop: Math.max(open, close),
      bodyBottom: Math.min(open, close),
    }
    const rising = isRising(candle)
    return Array.from({ length: rows }, (_, row): Cell => {
      const lower = 2 * (rows - 1 - row)
      const character = candleGlyph(halfAt(steps, lower + 1), halfAt(steps, lower), rising, style)
      return character === ' ' ? BLANK : { character, ink: rising ? 'rising' : 'falling' }
    })
  })
}

function halfAt({ high, low, bodyTop, bodyBottom }: Steps, step: number): Half {
  if (step >= bodyBottom && step <= bodyTop) return BODY
  return step >= low && step <= high ? WICK : NOTHING
}

const EIGHTHS = 8

/**
 * The volume of each slot as a column of cells, from the top row to the bottom one. A bar is rounded to eighths of a row; any
 * volume at all has one.
 */
export function volumeColumns(slots: readonly Slot[], rows: number, style: GlyphStyle): readonly Cell[][] {
  const max = maxVolume(slots)
  return slots.map(({ candle }) => {
    const volume = candle ? Number(candle.volume) : 0
    const height = volume === 0 ? 0 : Math.max(1, Math.round((volume / max) * rows * EIGHTHS))
    const ink = candle && isRising(candle) ? 'rising' : 'falling'
    return Array.from({ length: rows }, (_, row): Cell => {
      const eighths = Math.min(EIGHTHS, Math.max(0, height - EIGHTHS * (rows - 1 - row)))
      return eighths === 0 ? BLANK : { character: volumeGlyph(eighths, style), ink }
    })
  })
}
