import * as Flags from '@oclif/core/flags'
import { PICTURE_HEIGHTS, PICTURE_WIDTHS } from '../../chart/svg/picture-options.js'
import { type FlagsOf, inGroup } from './group.js'
import type { locationFlags } from './location.js'
import type { fetchFlags } from './network.js'
import { outputFlags } from './output.js'
import type { RangeFlags } from './selection.js'

/** What a chart shows, and how. */
export const chartFlags = {
  ...inGroup('range', {
    from: Flags.string({
      summary: 'First open time; same forms as for klines download. Default: the newest candles that fit.',
      helpValue: 'TIME',
      env: 'KLINES_FROM',
    }),
  }),
  resample: outputFlags.resample,
  ...inGroup('output', {
    output: Flags.string({
      char: 'o',
      summary: 'SVG file to draw instead; - for stdout. {symbol} and {interval} in the name are replaced.',
      helpValue: 'FILE',
      env: 'KLINES_CHART_OUTPUT',
    }),
    format: Flags.option({
      char: 'f',
      summary: 'Draw a picture: to stdout without -o.',
      options: ['svg'] as const,
      helpValue: 'FORMAT',
      env: 'KLINES_CHART_FORMAT',
    })(),
    theme: outputFlags.theme,
    force: outputFlags.force,
    mkdir: outputFlags.mkdir,
  }),
  ...inGroup('network', {
    offline: Flags.boolean({ summary: 'Make no request: draw what is in the mirror.', env: 'KLINES_OFFLINE' }),
    watch: Flags.boolean({
      summary: 'Redraw when there are new candles, until Ctrl-C. Needs a terminal.',
      env: 'KLINES_WATCH',
    }),
  }),
  ...inGroup('appearance', {
    log: Flags.boolean({ summary: 'Logarithmic price axis.', env: 'KLINES_LOG' }),
    ascii: Flags.boolean({
      summary: 'Only ASCII characters. Default at TERM=dumb and in a locale without UTF-8.',
      env: 'KLINES_ASCII',
    }),
    width: Flags.integer({
      summary:
        'Columns of the chart. Default: those of the terminal, else COLUMNS, else 80. With -o: pixels, default 1200.',
      helpValue: 'COLUMNS',
      min: 40,
      max: PICTURE_WIDTHS.max,
      env: 'KLINES_WIDTH',
    }),
    height: Flags.integer({
      summary: 'Rows of each chart. Default: those of the terminal, at most 30. With -o: pixels, default 600.',
      helpValue: 'ROWS',
      min: 12,
      max: PICTURE_HEIGHTS.max,
      env: 'KLINES_HEIGHT',
    }),
  }),
}

/** What the flags of `chart` parse to. */
export interface ChartFlags
  extends FlagsOf<typeof chartFlags>,
    FlagsOf<typeof locationFlags>,
    FlagsOf<typeof fetchFlags>,
    RangeFlags {
  interval: string[]
  'accept-list'?: boolean
  yes?: boolean
  json: boolean
}
