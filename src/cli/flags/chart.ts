import * as Flags from '@oclif/core/flags'
import { DEFAULT_PICTURE, PICTURE_HEIGHTS, PICTURE_WIDTHS, THEMES } from '../../chart/svg/picture-options.js'
import { ALIASES } from './from-table.js'
import { type FlagsOf, inGroup } from './group.js'
import { outputFlag, outputFlags } from './output.js'
import type { OutputOptions } from './run.js'
import { selectionFlags } from './selection.js'
import { fetchFlags, locationFlags } from './service.js'

/** What a chart shows, and how. */
export const chartFlags = {
  ...selectionFlags,
  ...inGroup('range', {
    from: Flags.string({
      aliases: ALIASES.from,
      summary: 'First open time; same forms as for klines download. Default: the newest candles that fit.',
      helpValue: 'TIME',
    }),
  }),
  resample: outputFlags.resample,
  ...inGroup('output', {
    output: outputFlag({
      summary: 'SVG file to draw instead; - for stdout. {symbol} and {interval} in the name are replaced.',
      env: 'KLINES_CHART_OUTPUT',
    }),
    format: Flags.option({
      char: 'f',
      summary: 'Draw a picture: to stdout without -o.',
      options: ['svg'] as const,
      helpValue: 'FORMAT',
      env: 'KLINES_CHART_FORMAT',
    })(),
    theme: Flags.option({
      summary: `Colours of an SVG picture. Default: ${DEFAULT_PICTURE.theme}.`,
      options: THEMES,
      helpValue: 'THEME',
    })(),
    force: outputFlags.force,
  }),
  ...inGroup('network', {
    offline: Flags.boolean({ summary: 'Make no request: draw what is in the mirror.' }),
  }),
  ...inGroup('appearance', {
    log: Flags.boolean({ summary: 'Logarithmic price axis.' }),
    ascii: Flags.boolean({
      summary: 'Only ASCII characters. Default at TERM=dumb and in a locale without UTF-8.',
    }),
    width: Flags.integer({
      summary:
        'Columns of the chart. Default: those of the terminal, else COLUMNS, else 80. With -o: pixels, default 1200.',
      helpValue: 'COLUMNS',
      min: 40,
      max: PICTURE_WIDTHS.max,
    }),
    height: Flags.integer({
      summary: 'Rows of each chart. Default: those of the terminal, at most 30. With -o: pixels, default 600.',
      helpValue: 'ROWS',
      min: 12,
      max: PICTURE_HEIGHTS.max,
    }),
  }),
  ...locationFlags,
  ...fetchFlags,
}

/** What `chartFlags` parse to. */
export type ChartFlags = FlagsOf<typeof chartFlags> & OutputOptions
