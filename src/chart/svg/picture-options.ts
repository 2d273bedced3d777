/** The colours of a picture. */
export const THEMES = ['light', 'dark'] as const

/** The colours of one picture. */
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

/** The colours of a theme. Texts have a contrast of at least 4.5 to the background, candles of at least 3. */
export interface Palette {
  readonly background: string
  readonly text: string
  /** Labels of the axes and the lines below the title. */
  readonly label: string
  readonly grid: string
  readonly border: string
  readonly rising: string
  readonly falling: string
  /** Bars of volume, paler than their candles. */
  readonly risingVolume: string
  readonly fallingVolume: string
  /** The text on a box of the colour of a candle. */
  readonly onCandle: string
  /** A band where candles are missing. */
  readonly gap: string
}

/** Green and red also differ in brightness, for those who cannot tell them apart by hue. */
export const PALETTES: Readonly<Record<Theme, Palette>> = {
  light: {
    background: '#ffffff',
    text: '#1b222c',
    label: '#57606a',
    grid: '#e9ecef',
    border: '#c9ced4',
    rising: '#0e9272',
    falling: '#c0362c',
    risingVolume: '#9fd3c7',
    fallingVolume: '#e6afab',
    onCandle: '#ffffff',
    gap: '#f9e7bd',
  },
  dark: {
    background: '#14181d',
    text: '#e6e9ed',
    label: '#9aa4b0',
    grid: '#23292f',
    border: '#3d454d',
    rising: '#3fbf97',
    falling: '#e8685c',
    risingVolume: '#255b4e',
    fallingVolume: '#693836',
    onCandle: '#14181d',
    gap: '#40361c',
  },
}
