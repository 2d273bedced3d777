import { characterColumns } from '../../candles/text.js'
import type { ChartCandle } from '../candle-fitter.js'
import { isRising } from '../summary.js'

export interface GlyphStyle {
  /** Colours by ANSI codes. Without them a rising candle is hollow and a falling one filled. */
  readonly colour: boolean
  /** Characters of ASCII alone. */
  readonly ascii: boolean
}

/** ANSI codes that turn a look on and off. */
const CODES = { plain: [0, 0], strong: [1, 22], faint: [2, 22], rising: [32, 39], falling: [31, 39] } as const
export type Ink = keyof typeof CODES

/** A line of text in which each character has an ink. */
export class CellLine {
  private readonly cells: { readonly character: string; readonly ink: Ink }[] = []
  /** In columns. */
  length = 0

  add(text: string, ink: Ink = 'plain'): this {
    for (const character of text) {
      this.cells.push({ character, ink })
      this.length += characterColumns(character)
    }
    return this
  }

  padTo(columns: number): this {
    return this.add(' '.repeat(Math.max(0, columns - this.length)))
  }

  /** Without the blanks at its end; with ANSI codes if it is coloured. */
  toString(colour: boolean): string {
    const cells = this.cells.slice(0, this.cells.findLastIndex(({ character }) => character !== ' ') + 1)
    let [text, ink]: [string, Ink] = ['', 'plain']
    const change = (next: Ink) => {
      if (!colour || next === ink) return
      if (ink !== 'plain') text += `\x1b[${CODES[ink][1]}m`
      if (next !== 'plain') text += `\x1b[${CODES[next][0]}m`
      ink = next
    }
    for (const cell of cells) {
      // A blank has no colour of its own.
      if (cell.character !== ' ') change(cell.ink)
      text += cell.character
    }
    change('plain')
    return text
  }
}

export function marksFor({ ascii }: GlyphStyle) {
  return ascii
    ? { axis: '|', tick: '+', last: '<', line: '-', label: '+' }
    : { axis: '│', tick: '┤', last: '◂', line: '─', label: '┬' }
}

/** Glyphs of a candle: a line for each upper half, a column for each lower half: nothing, wick, body. */
const BOXES = [
  [' ', '╷', '╻'],
  ['╵', '│', '╽'],
  ['╹', '╿', '┃'],
] as const
const BODY = 2
const HOLLOW = '║'
const BLOCKS = ' ▁▂▃▄▅▆▇█'
/** In ASCII: less than half a row, at least half a row, a whole row. */
const ASCII_BLOCKS = ' ...::::#'
const EIGHTHS = 8

/**
 * The glyph of a candle in a row of the prices. `stepOf`: the step of a price, 0 at the bottom and two a row, as a candle can end in the
 * middle of a character. `lower`: the lower step of the row.
 */
export function candleGlyph(
  candle: ChartCandle,
  stepOf: (price: string) => number,
  lower: number,
  { colour, ascii }: GlyphStyle,
): string {
  const [low, high, open, close] = [candle.low, candle.high, candle.open, candle.close].map(stepOf)
  const halfAt = (step: number) => {
    if (step >= Math.min(open, close) && step <= Math.max(open, close)) return BODY
    return step >= low && step <= high ? 1 : 0
  }
  const halves = [halfAt(lower + 1), halfAt(lower)] as const
  if (ascii) return [' ', '|', isRising(candle) ? 'O' : '#'][Math.max(...halves)]
  // There is no hollow glyph for half a row: the direction says more than half a row.
  if (halves.includes(BODY) && !colour && isRising(candle)) return HOLLOW
  return BOXES[halves[0]][halves[1]]
}

/** The glyph of a bar of volume, a `share` of `rows` rows, in the row `above` the lowest one: any volume has one. */
export function volumeGlyph(share: number, rows: number, above: number, { ascii }: GlyphStyle): string {
  const height = share === 0 ? 0 : Math.max(1, Math.round(share * rows * EIGHTHS))
  return (ascii ? ASCII_BLOCKS : BLOCKS)[Math.min(EIGHTHS, Math.max(0, height - EIGHTHS * above))]
}
