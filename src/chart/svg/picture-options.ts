/** The colours of a picture. */
export const THEMES = ['light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

/** The smallest and the largest sides of a picture in pixels: less has no room for the texts. */
export const PICTURE_WIDTHS = { min: 400, max: 10_000 }
export const PICTURE_HEIGHTS = { min: 240, max: 10_000 }

/** What a picture of candles looks like. */
export interface PictureOptions {
  readonly theme: Theme
  /** In pixels. */
  readonly width: number
  readonly height: number
  /** Whether the price axis is logarithmic. */
  readonly log: boolean
}

export const DEFAULT_PICTURE: PictureOptions = { theme: 'light', width: 1200, height: 600, log: false }
