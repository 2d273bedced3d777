import type { Slot } from '../chart-candle.js'
import { isRising } from '../summary.js'
import { type GlyphStyle, volumeGlyph } from './glyphs.js'
import { BLANK, type Cell } from './price-rows.js'

const EIGHTHS = 8
const UNITS = ['', 'K', 'M', 'B', 'T']

/** The highest volume, which fills all rows; 0 when nothing was traded. */
export function maxVolume(slots: readonly Slot[]): number {
  return slots.reduce((max, { candle }) => Math.max(max, candle ? Number(candle.volume) : 0), 0)
}

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

/** `44.9K`: three digits and a unit, without zeros at the end. */
export function formatVolume(volume: number): string {
  if (volume === 0) return '0'
  let [value, unit] = [volume, 0]
  // A value that would be rounded to 1000 belongs to the next unit.
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1000
  return `${Number(value.toPrecision(3))}${UNITS[unit]}`
}
