import * as Args from '@oclif/core/args'
import { command } from '../cli/command.js'
import { locationFlags, networkFlags } from '../cli/flags/shared.js'

const LISTS = { start: 'Fetching lists', verb: '', noun: 'list' }
const flags = { ...locationFlags, ...networkFlags }

export const symbols = command({
  summary: 'List the trading pairs, and what is in the mirror.',
  description: 'Shows the lists of the mirror if the service cannot be reached.',
  examples: ['klines symbols', 'klines symbols --json'],
  flags,
  async run({ options, during, print }) {
    const { readCatalogue } = await import('../engine/lists.js')
    const { Symbols } = await import('./reports/lists.js')
    print(Symbols, await during(LISTS, events => readCatalogue({ ...options, ...events }, [])))
  },
})

export const intervals = command({
  summary: 'List the candle lengths, and what is in the mirror.',
  description:
    'For each interval: the length of a window, the first date, the windows up to today, and how many are mirrored. Shows the lists of the mirror if the service cannot be reached.',
  examples: ['klines intervals', 'klines intervals --json'],
  flags,
  async run({ options, during, print }) {
    const { readCatalogue } = await import('../engine/lists.js')
    const { Intervals } = await import('./reports/lists.js')
    print(Intervals, await during(LISTS, events => readCatalogue({ ...options, ...events })))
  },
})

export const startDates = command({
  summary: 'List the windows of an interval, and what is in the mirror.',
  description: 'Shows the windows up to today, and the lists of the mirror if the service cannot be reached.',
  examples: ['klines start-dates 1h', 'klines start-dates 1M --json'],
  args: {
    interval: Args.string({
      description: 'Candle length such as 1h; 1M is a month.',
      required: true,
      ignoreStdin: true,
    }),
  },
  flags,
  async run({ args, options, during, print }) {
    const { readCatalogue } = await import('../engine/lists.js')
    const { parseInterval } = await import('../candles/intervals.js')
    const { StartDates } = await import('./reports/lists.js')
    const interval = parseInterval(args.interval)
    const read = during(LISTS, events => readCatalogue({ ...options, ...events }, [interval]))
    print(StartDates, { ...(await read), interval })
  },
})
