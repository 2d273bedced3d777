import { KlinesError } from '../../klines/errors.js'

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

/** The picture options of a request; each has a default. */
export type PictureRequest = { readonly [Name in keyof PictureOptions]?: PictureOptions[Name] | undefined }

/** Checks picture options and fills in the defaults. Throws `bad_option` with the name, the value and what is expected. */
export function parsePicture({ theme, width, height, log }: PictureRequest): PictureOptions {
  if (theme !== undefined && !THEMES.includes(theme)) {
    throw new KlinesError('bad_option', `\`theme\` is "${theme}". Expected ${THEMES.join(' or ')}.`)
  }
  return {
    theme: theme ?? DEFAULT_PICTURE.theme,
    width: parseSide('width', width, PICTURE_WIDTHS) ?? DEFAULT_PICTURE.width,
    height: parseSide('height', height, PICTURE_HEIGHTS) ?? DEFAULT_PICTURE.height,
    log: log ?? DEFAULT_PICTURE.log,
  }
}

/** Throws `bad_option` unless `pixels` is a whole number that is allowed for the side. */
function parseSide(name: string, pixels: number | undefined, { min, max }: typeof PICTURE_WIDTHS) {
  if (pixels === undefined || (Number.isInteger(pixels) && pixels >= min && pixels <= max)) return pixels
  const message = `\`${name}\` is ${pixels}. Expected a whole number of pixels from ${min} to ${max}.`
  throw new KlinesError('bad_option', message)
}
