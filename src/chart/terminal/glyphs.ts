/** How a chart is drawn with characters. */
export interface GlyphStyle {
  /** Colours by ANSI codes. Without them a rising candle is hollow and a falling one filled. */
  readonly colour: boolean
  /** Characters of ASCII alone. */
  readonly ascii: boolean
}

/** What a candle has in half a row: nothing, its wick or its body. */
export type Half = 0 | 1 | 2
export const [NOTHING, WICK, BODY] = [0, 1, 2] as const

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
export interface Marks {
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
export function candleGlyph(upper: Half, lower: Half, rising: boolean, { colour, ascii }: GlyphStyle): string {
  const hasBody = upper === BODY || lower === BODY
  if (ascii) {
    if (hasBody) return rising ? 'O' : '#'
    return upper === WICK || lower === WICK ? '|' : ' '
  }
  // There is no hollow glyph for half a row: the direction says more than half a row.
  return hasBody && rising && !colour ? HOLLOW : BOXES[upper][lower]
}

/** The character for one row of a volume bar of which so many eighths are filled, 0 to 8. */
export function volumeGlyph(eighths: number, { ascii }: GlyphStyle): string {
  return (ascii ? ASCII_BLOCKS : BLOCKS)[eighths]
}
