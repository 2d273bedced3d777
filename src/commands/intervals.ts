import { command } from '../cli/command.js'
import { locationFlags, networkFlags } from '../cli/flags/service.js'
import { LISTS } from '../cli/terminal/progress-text.js'

export default command({
  summary: 'List the candle lengths, and what is in the mirror.',
  description:
    'For each interval: the length of a window, the first date, the windows up to today, and how many are mirrored. Shows the lists of the mirror if the service cannot be reached.',
  examples: ['klines intervals', 'klines intervals --json'],
  flags: { ...locationFlags, ...networkFlags },
  async run({ options, during, print }) {
    const { readMirrorCatalogue } = await import('../engine/catalogue.js')
    const { Intervals } = await import('./reports/lists.js')
    print(Intervals, await during(LISTS, events => readMirrorCatalogue({ ...options, ...events }), { isShort: true }))
  },
})
