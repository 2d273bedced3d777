import type { ChartSummary } from '../summary.js'

/** All sizes are pixels. Less has no room for the texts. */
export const PICTURE_WIDTHS = { min: 400, max: 10_000 }
export const PICTURE_HEIGHTS = { min: 240, max: 10_000 }

export interface PictureOptions {
  readonly theme: Theme
  readonly width: number
  readonly height: number
  readonly log: boolean
}

export const THEMES = ['light', 'dark'] as const
type Theme = (typeof THEMES)[number]

export const DEFAULT_PICTURE: PictureOptions = { theme: 'light', width: 1200, height: 600, log: false }

/** On light and on dark: texts have a contrast of at least 4.5, candles of at least 3; green and red differ in brightness, too. */
const COLOURS = {
  background: ['#ffffff', '#14181d'],
  text: ['#1b222c', '#e6e9ed'],
  /** Of the axes, and the lines below the title. */
  label: ['#57606a', '#9aa4b0'],
  grid: ['#e9ecef', '#23292f'],
  border: ['#c9ced4', '#3d454d'],
  rising: ['#0e9272', '#3fbf97'],
  falling: ['#c0362c', '#e8685c'],
  risingVolume: ['#9fd3c7', '#255b4e'],
  fallingVolume: ['#e6afab', '#693836'],
  /** The text on a box of the colour of a candle. */
  onCandle: ['#ffffff', '#14181d'],
  gap: ['#f9e7bd', '#40361c'],
}

export type Palette = Readonly<Record<keyof typeof COLOURS, string>>

const palette = (index: number) =>
  Object.fromEntries(Object.entries(COLOURS).map(([name, pair]) => [name, pair[index]])) as Palette
export const PALETTES: Readonly<Record<Theme, Palette>> = { light: palette(0), dark: palette(1) }

export const PADDING = 16
export const FONT_SIZE = 12
export const TITLE_SIZE = 20
export const LINE_HEIGHT = 18
/** A digit and a letter of the widest common fonts, in parts of the font size. */
const DIGIT_WIDTH = 0.64
const LETTER_WIDTH = 0.58
/** The height of the labels of the time axis. */
const TIME_HEIGHT = 28
const VOLUME_SHARE = 0.18
/** Between and around prices and volumes; as much is free above the highest price and below the lowest. */
const GAP = 10
/** Between labels of prices, about. */
const TICK_DISTANCE = 44
/** Space for `44.9K vol`. */
const VOLUME_LABEL_LENGTH = 9
/** What the labels of prices take of the width at most. */
const MAX_AXIS_SHARE = 0.3
/** With less room, the body of a candle cannot be told from its wick. */
const MIN_PITCH = 2
const USUAL_AXIS = 70

/** Where the parts of a picture are, from the top left corner. */
export type Layout = ReturnType<typeof layOut>

export function maxCandles({ width }: Pick<PictureOptions, 'width'>): number {
  return Math.floor((width - 2 * PADDING - USUAL_AXIS) / MIN_PITCH)
}

/** How wide a label of so many digits is at most. */
export function labelWidth(characters: number): number {
  return characters * FONT_SIZE * DIGIT_WIDTH
}

/** Divides a picture of `slots` candles. `note` stands below the title: `lines` are the texts there. */
export function layOut(summary: ChartSummary, slots: number, { width, height }: PictureOptions, note?: string) {
  const { title, scale, lastText, maxVolume } = summary
  const characters = Math.floor((width - 2 * PADDING) / (FONT_SIZE * LETTER_WIDTH))
  const lines = wrapParts([title.resampled, title.range, title.prices, note], characters)
  const top = PADDING + TITLE_SIZE + lines.length * LINE_HEIGHT + GAP
  const bottom = height - TIME_HEIGHT
  const volumeTop = Math.round(bottom - (bottom - top) * (maxVolume === 0 ? 0 : VOLUME_SHARE))
  const [priceTop, priceBottom] = [top + GAP, volumeTop - 2 * GAP]
  const ticks = scale.ticks(Math.max(2, Math.floor((priceBottom - priceTop) / TICK_DISTANCE)))
  const longest = Math.max(VOLUME_LABEL_LENGTH, lastText.length, ...ticks.map(({ text }) => text.length))
  const axis = Math.min(labelWidth(longest) + PADDING, width * MAX_AXIS_SHARE)
  // The candles end and the labels of prices begin at `right`; candles are `pitch` apart.
  const [left, right] = [PADDING, Math.floor(width - axis - PADDING / 2)]
  return { left, right, pitch: (right - left) / slots, top, priceTop, priceBottom, volumeTop, bottom, lines, ticks }
}

/** Joins parts into lines of at most `max` characters; a longer part is broken between its clauses. */
function wrapParts(parts: readonly (string | undefined)[], max: number): string[] {
  const lines: string[] = []
  for (const part of parts) {
    if (part === undefined) continue
    for (const [index, clause] of (part.length <= max ? [part] : part.split(/(?<=,) /)).entries()) {
      const longer = `${lines.at(-1)}${index === 0 ? ' · ' : ' '}${clause}`
      if (lines.length > 0 && longer.length <= max) lines[lines.length - 1] = longer
      else lines.push(clause)
    }
  }
  return lines
}
