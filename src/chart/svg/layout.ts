import type { PictureOptions } from './picture-options.js'

export const PADDING = 16
export const FONT_SIZE = 12
export const TITLE_SIZE = 20
export const LINE_HEIGHT = 18
/** A digit and a letter of the widest common fonts, in parts of the font size: nobody measures texts. */
const DIGIT_WIDTH = 0.64
const LETTER_WIDTH = 0.58
/** The height of the labels of the time axis. */
const TIME_HEIGHT = 28
const VOLUME_SHARE = 0.18
/** The space between the prices and the volumes, and around the prices. */
const GAP = 10
/** The place that the labels of prices take at most, as a share of the width. */
const MAX_AXIS_SHARE = 0.3
/** A candle has at least so much room: less, and its body cannot be told from its wick. */
const MIN_PITCH = 2.5
const USUAL_AXIS = 70

/** The heights of the parts of a picture, in pixels from the top. */
export interface Rows {
  readonly top: number
  readonly priceBottom: number
  readonly volumeTop: number
  readonly bottom: number
  /** The texts below the title. */
  readonly lines: readonly string[]
}

/** Where the candles are, in pixels from the top left corner. */
export interface Layout extends Rows {
  readonly left: number
  /** Where the candles end and the labels of prices begin. */
  readonly right: number
  /** The distance between candles. */
  readonly pitch: number
}

/** The number of candles that a picture of that width has room for. */
export function maxCandles({ width }: Pick<PictureOptions, 'width'>): number {
  return Math.floor((width - 2 * PADDING - USUAL_AXIS) / MIN_PITCH)
}

/** How wide a label of so many digits is at most, in pixels. */
export function labelWidth(characters: number): number {
  return characters * FONT_SIZE * DIGIT_WIDTH
}

/** Divides the height of a picture with these texts below its title. */
export function computeRows({ width, height }: PictureOptions, texts: readonly (string | undefined)[]): Rows {
  const lines = wrapParts(
    texts.filter(text => text !== undefined),
    Math.floor((width - 2 * PADDING) / (FONT_SIZE * LETTER_WIDTH)),
  )
  const top = PADDING + TITLE_SIZE + lines.length * LINE_HEIGHT + GAP
  const bottom = height - TIME_HEIGHT
  const volumeTop = Math.round(bottom - (bottom - top) * VOLUME_SHARE)
  return { top, priceBottom: volumeTop - GAP, volumeTop, bottom, lines }
}

/** Divides the width of a picture with `slots` candles, whose longest price label has `labelLength` characters. */
export function computeLayout(rows: Rows, { width }: PictureOptions, slots: number, labelLength: number): Layout {
  const axis = Math.min(labelWidth(labelLength) + PADDING, width * MAX_AXIS_SHARE)
  const [left, right] = [PADDING, Math.floor(width - axis - PADDING / 2)]
  return { ...rows, left, right, pitch: (right - left) / slots }
}

/** Joins parts into lines of at most `max` characters; a part that is longer is broken between its clauses, where that is enough. */
function wrapParts(parts: readonly string[], max: number): string[] {
  const lines: string[] = []
  const add = (text: string, separator: string) => {
    const line = lines.at(-1)
    if (line !== undefined && (line + separator + text).length <= max) lines[lines.length - 1] = line + separator + text
    else lines.push(text)
  }
  for (const part of parts) {
    if (part.length <= max) add(part, ' · ')
    else for (const [index, clause] of part.split(/(?<=,) /).entries()) add(clause, index === 0 ? ' · ' : ' ')
  }
  return lines
}
