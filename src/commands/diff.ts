import * as Args from '@oclif/core/args'
import { command } from '../cli/command.js'
import { VERDICT_EXIT_CODES } from '../cli/error-report.js'
import { fetchFlags, intervalFlag, rangeFlags } from '../cli/flags/shared.js'

const DOWNLOADING = { start: 'Reading both sides', verb: 'Downloading', noun: 'window' }
const COMPARING = { start: 'Reading both sides', verb: 'Comparing', noun: 'series' }
/** Differences of a series that are shown without `-v`. */
const MAX_LISTED = 20

const side = {
  description: 'A mirror, a lake, a file that klines wrote, binance, or a base address.',
  required: true,
  ignoreStdin: true,
} as const

export default command({
  summary: 'Compare the candles of two mirrors, lakes, files or services.',
  description: `Compares all candles of both sides: prints the verdict, then the candles that only one side has and the cells that differ, of each series the first 20, with -v all. 1.50 equals 1.5, and the column ignore is left out.

Beside a file or a lake, a mirror has only the series of that. A service, which is binance or a base address, is downloaded into its own mirror, from the first to the last candle of the other side unless --from and --to say otherwise. All else is compared as a whole, offline.

Where a window of a mirror is missing or corrupt, nothing is compared. Files of doubles are refused, because they lack digits.
Exit codes: 0 equal, 3 windows are missing and all else is equal, or neither side has a series that is named, 4 neither side has a candle in the range, 6 candles differ, also if windows are missing.`,
  examples: [
    'klines diff mirror-2024/ mirror-2025/',
    'klines diff btcusdt-1h.csv lake/ --from 2024 --to 2025 -v',
    'klines diff candles/ binance BTCUSDT -i 1h,1d --json',
  ],
  args: {
    a: Args.string(side),
    b: Args.string(side),
    symbol: Args.string({
      description: "Only these trading pairs; quoted patterns such as '*USDT'.",
      multiple: true,
      ignoreStdin: true,
    }),
  },
  flags: {
    ...intervalFlag('Only candles of these lengths, repeated or separated by commas. Default: all.'),
    ...rangeFlags,
    ...fetchFlags,
  },
  async run({ args: { a, b, symbol = [] }, flags: { interval = [], verbose }, options, during, print }) {
    const { diffKlines, isService } = await import('../identity/diff.js')
    const { DiffReport } = await import('./reports/diff.js')
    const most = verbose ? Infinity : MAX_LISTED
    const request = { ...options, sides: [a, b], symbols: symbol, intervals: interval, most } as const
    const words = [a, b].some(isService) ? DOWNLOADING : COMPARING
    const found = await during(words, events => diffKlines({ ...request, ...events }))
    print(DiffReport, found)
    process.exitCode = VERDICT_EXIT_CODES[found.verdict]
  },
})
