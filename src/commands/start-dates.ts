import * as Args from '@oclif/core/args'
import { command } from '../cli/command.js'
import { locationFlags, networkFlags } from '../cli/flags/service.js'
import { LISTS } from '../cli/terminal/progress-text.js'

export default command({
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
  flags: { ...locationFlags, ...networkFlags },
  async run({ args, options, during, print }) {
    const { readMirrorCatalogue } = await import('../engine/catalogue.js')
    const { parseInterval } = await import('../candles/intervals.js')
    const { StartDates } = await import('./reports/lists.js')
    const interval = parseInterval(args.interval)
    const read = during(LISTS, events => readMirrorCatalogue({ ...options, ...events }, [interval]), { isShort: true })
    print(StartDates, { ...(await read), interval })
  },
})
