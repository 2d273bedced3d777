import * as Flags from '@oclif/core/flags'
import {
  DEFAULT_PICTURE,
  PICTURE_HEIGHTS,
  PICTURE_WIDTHS,
  THEMES,
  type Theme,
} from '../../chart/svg/picture-options.js'
import { inGroup } from './group.js'

/** What a picture looks like (`-f svg`). `klines chart` counts its width and height in characters. */
export const pictureFlags = inGroup('output', {
  theme: Flags.option({
    summary: `Colours of an SVG picture. Default: ${DEFAULT_PICTURE.theme}.`,
    options: THEMES,
    helpValue: 'THEME',
    env: 'KLINES_THEME',
  })(),
  width: Flags.integer({
    summary: `Width of an SVG picture in pixels. Default: ${DEFAULT_PICTURE.width}.`,
    helpValue: 'PIXELS',
    env: 'KLINES_PICTURE_WIDTH',
    ...PICTURE_WIDTHS,
  }),
  height: Flags.integer({
    summary: `Height of an SVG picture in pixels. Default: ${DEFAULT_PICTURE.height}.`,
    helpValue: 'PIXELS',
    env: 'KLINES_PICTURE_HEIGHT',
    ...PICTURE_HEIGHTS,
  }),
  log: Flags.boolean({ summary: 'Logarithmic price axis of an SVG picture.', env: 'KLINES_LOG' }),
})

/** What `pictureFlags` parse to. */
export interface PictureFlags {
  theme?: Theme | undefined
  width?: number | undefined
  height?: number | undefined
  log?: boolean | undefined
}
