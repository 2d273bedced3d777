import type { Prices } from '../chart-series.js'

/** Upper half of a row, lower half of a row: the character. `.` is nothing, `w` a wick, `b` a body. */
const GLYPHS: Record<string, string> = {
  '..': ' ',
  '.w': '╷',
  '.b': '╻',
  'w.': '╵',
  ww: '│',
  wb: '╽',
  'b.': '╹',
  bw: '╿',
  bb: '┃',
}

/**
 * The plot of candles whose prices are whole numbers from 0 to `2 * rows`: price `p` is half row `p`, counted from 0 at the
 * bottom; the highest price belongs to the topmost half row. Drawn as half rows first, which are then joined in pairs. `hollow`:
 * rows of a rising candle that have any body are hollow.
 */
export function plotOracle(
  candles: readonly (Prices | undefined)[],
  { rows, pitch, hollow, ascii }: { rows: number; pitch: number; hollow: boolean; ascii: boolean },
): string[] {
  const halfRows = Array.from({ length: 2 * rows }, (_, half) => {
    const reaches = (price: number) => Math.min(price, 2 * rows - 1)
    return candles.map(candle => {
      if (!candle) return '.'
      const { open, high, low, close } = candle
      const isBetween = (a: number, b: number) => reaches(Math.min(a, b)) <= half && half <= reaches(Math.max(a, b))
      if (isBetween(open, close)) return 'b'
      return isBetween(low, high) ? 'w' : '.'
    })
  }).toReversed()
  return Array.from({ length: rows }, (_, row) => {
    const [upper, lower] = [halfRows[2 * row], halfRows[2 * row + 1]]
    const characters = candles.map((candle, index) => {
      const pair = upper[index] + lower[index]
      const rising = candle !== undefined && candle.close >= candle.open
      if (ascii) return pair.includes('b') ? (rising ? 'O' : '#') : pair === '..' ? ' ' : '|'
      return pair.includes('b') && rising && hollow ? '║' : GLYPHS[pair]
    })
    return spaced(characters, pitch)
  })
}

/** The volume of the same candles: `volume` eighths of a row, of 3 rows. */
export function volumeOracle(candles: readonly (Prices | undefined)[], pitch: number): string[] {
  return [16, 8, 0].map(below => {
    const fill = (volume: number) => ' ▁▂▃▄▅▆▇█'[Math.min(8, Math.max(0, volume - below))]
    return spaced(
      candles.map(candle => fill(candle?.volume ?? 0)),
      pitch,
    )
  })
}

/** A candle of two columns stands in the first one, and one of three in the middle; with 2.5, in columns 0, 3, 5, 8 and so on. */
function spaced(characters: readonly string[], pitch: number): string {
  const line = Array.from({ length: Math.floor(pitch * characters.length) }, () => ' ')
  for (const [index, character] of characters.entries()) line[Math.floor((index + 0.5) * pitch - 0.5)] = character
  return line.join('')
}
