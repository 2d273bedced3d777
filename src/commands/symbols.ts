import { command } from '../cli/command.js'
import { locationFlags, networkFlags } from '../cli/flags/service.js'
import { LISTS } from '../cli/terminal/progress-text.js'

export default command({
  summary: 'List the trading pairs, and what is in the mirror.',
  description: 'Shows the lists of the mirror if the service cannot be reached.',
  examples: ['klines symbols', 'klines symbols --json'],
  flags: { ...locationFlags, ...networkFlags },
  async run({ options, during, print }) {
    const { readMirrorCatalogue } = await import('../engine/catalogue.js')
    const { Symbols } = await import('./reports/lists.js')
    print(Symbols, await during(LISTS, events => readMirrorCatalogue({ ...options, ...events }, []), { isShort: true }))
  },
})
