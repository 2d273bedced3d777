import { command } from '../cli/command.js'
import { mirrorSeriesFlags, rangeFlags, symbolArgs } from '../cli/flags/selection.js'
import { locationFlags } from '../cli/flags/service.js'

export default command({
  summary: 'Show statistics of series: range, prices, totals, largest gap.',
  examples: ['klines stats BTCUSDT -i all', 'klines stats all -i 1d --last 1y -f csv'],
  args: symbolArgs,
  flags: { ...mirrorSeriesFlags, ...rangeFlags, ...locationFlags },
  async run({ args, flags, options, print }) {
    const { parseSelectionText } = await import('../engine/selection.js')
    const { readStats } = await import('../verify/stats.js')
    const { Stats } = await import('./reports/stats.js')
    print(Stats, await readStats({ ...options, ...parseSelectionText(args.symbol, flags.interval) }))
  },
})
