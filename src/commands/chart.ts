import * as Flags from '@oclif/core/flags'
import { DEFAULT_PICTURE, PICTURE_HEIGHTS, PICTURE_WIDTHS, THEMES } from '../chart/svg/layout.js'
import { command } from '../cli/command.js'
import { ALIASES, inGroup } from '../cli/flags/group.js'
import { outputFlag, outputFlags } from '../cli/flags/output.js'
import { fetchFlags, locationFlags, selectionFlags, symbolArgs } from '../cli/flags/shared.js'

export default command({
  summary: 'Draw candles in the terminal, or as an SVG picture with -o.',
  description: `Without --from and --last, the newest candles that fit the width are drawn, also when they are old. With them, all candles of the range are: if they do not fit, they are resampled exactly to the shortest interval that does, and the title says so.

Missing and open windows are downloaded first. If the service cannot be reached, what is cached is drawn, with a note; if nothing is, the exit code is 5. With --offline, a missing window is an error, exit code 3.

Missing candles keep their place. Without colours (NO_COLOR, or not a terminal), rising candles are hollow and falling ones filled.`,
  examples: [
    'klines chart BTCUSDT -i 1d',
    'klines chart BTCUSDT ETHUSDT -i 1h --last 7d --height 16',
    'klines chart BTCUSDT -i 1d --last 365d -o btc.svg --theme dark',
  ],
  args: symbolArgs,
  flags: {
    ...selectionFlags,
    ...inGroup('range', {
      from: Flags.string({
        aliases: ALIASES.from,
        summary: 'First open time; same forms as for klines download. Default: the newest candles that fit.',
        helpValue: 'TIME',
      }),
    }),
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
      resample: outputFlags.resample,
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
  },
  async run({ args, flags, options, given, warn, during, show }) {
    const { loadCharts } = await import('../cli/chart/load-charts.js')
    const { drawCharts, drawPictures, parsePictures, roomFor } = await import('../cli/chart/draw-charts.js')
    const { Chart } = await import('./reports/chart.js')
    const { downloadingFrom } = await import('../cli/terminal/progress-text.js')
    const { shortSentences } = await import('../rows/coverage.js')
    const pictures = parsePictures(flags, given)
    const request = { ...options, symbols: args.symbol, intervals: flags.interval }
    const room = roomFor(pictures, flags)
    // Reading a mirror takes no time that is worth a line.
    const loaded = flags.offline
      ? await loadCharts(request, room)
      : await during(downloadingFrom(flags['base-url']), () => loadCharts(request, room))
    if (loaded.failure !== undefined) warn(`${loaded.failure} Drawing what is cached.`)
    if (pictures) {
      const drawn = await drawPictures(loaded, pictures, options)
      if (!drawn.some(({ path }) => path === '-')) return show(Chart, { ...loaded, files: drawn })
      for (const sentence of shortSentences(loaded.coverage, loaded.range)) warn(sentence, true)
      return undefined
    }
    if (flags.json) show(Chart, { ...loaded, files: [] })
    else drawCharts(loaded, flags, warn)
  },
})
