import type { Slot } from '../chart-candle.js'
import type { PriceScale } from '../price-scale.js'
import { isRising, maxVolume } from '../summary.js'
import type { Ink } from './cells.js'

/** How a chart is drawn with characters. */
export interface GlyphStyle {
  /** Colours by ANSI codes. Without them a rising candle is hollow and a falling one filled. */
  readonly colour: boolean
  /** Characters of ASCII alone. */
  readonly ascii: boolean
}

/** What a candle has in half a row: nothing, its wick or its body. */
type Half = 0 | 1 | 2
const [NOTHING, WICK, BODY] = [0, 1, 2] as const

/** One glyph for each upper half (line) and lower half (column): nothing, wick, body. */
const BOXES = [
  [' ', '╷', '╻'],
  ['╵', '│', '╽'],
  ['╹', '╿', '┃'],
] as const
const HOLLOW = '║'
const BLOCKS = ' ▁▂▃▄▅▆▇█'
/** In ASCII: less than half a row, at least half a row, a whole row. */
const ASCII_BLOCKS = ' ...::::#'

/** Characters around the candles. */
interface Marks {
  readonly axis: string
  readonly tick: string
  readonly last: string
  readonly line: string
  readonly label: string
  /** Stands for the rest of a text that does not fit. */
  readonly cut: string
}

const BOX_MARKS: Marks = { axis: '│', tick: '┤', last: '◂', line: '─', label: '┬', cut: '…' }
const ASCII_MARKS: Marks = { axis: '|', tick: '+', last: '<', line: '-', label: '+', cut: '~' }

export function marksFor({ ascii }: GlyphStyle): Marks {
  return ascii ? ASCII_MARKS : BOX_MARKS
}

/** The character for one row of a candle. */
function candleGlyph(upper: Half, lower: Half, rising: boolean, { colour, ascii }: GlyphStyle): string {
  const hasBody = upper === BODY || lower === BODY
  if (ascii) {
    if (hasBody) return rising ? 'O' : '#'
    return upper === WICK || lower === WICK ? '|' : ' '
  }
  // There is no hollow glyph for half a row: the direction says more than half a row.
  return hasBody && rising && !colour ? HOLLOW : BOXES[upper][lower]
}

/** The character for one row of a volume bar of which so many eighths are filled, 0 to 8. */
function volumeGlyph(eighths: number, { ascii }: GlyphStyle): string {
  return (ascii ? ASCII_BLOCKS : BLOCKS)[eighths]
}

/** A character of a plot. */
export interface Cell {
  readonly character: string
  readonly ink: Ink
}

const BLANK: Cell = { character: ' ', ink: 'plain' }

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
    const [low, high, open, close] = [candle.low, candle.high, candle.open, candle.close].map(step)
    const [bodyBottom, bodyTop] = [Math.min(open, close), Math.max(open, close)]
    const halfAt = (half: number): Half => {
      if (half >= bodyBottom && half <= bodyTop) return BODY
      return half >= low && half <= high ? WICK : NOTHING
    }
    const rising = isRising(candle)
    return Array.from({ length: rows }, (_, row): Cell => {
      const lower = 2 * (rows - 1 - row)
      const character = candleGlyph(halfAt(lower + 1), halfAt(lower), rising, style)
      return character === ' ' ? BLANK : { character, ink: rising ? 'rising' : 'falling' }
    })
  })
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
