import type { Slot } from '../chart-candle.js'
import { isRising } from '../summary.js'
import { maxVolume } from '../volume.js'
import { type GlyphStyle, volumeGlyph } from './glyphs.js'
import { BLANK, type Cell } from './price-rows.js'

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
