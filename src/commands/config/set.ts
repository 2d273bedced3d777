import * as Args from '@oclif/core/args'
import { command } from '../../cli/command.js'

export default command({
  summary: 'Set a default in your config file.',
  description: 'Other keys of the file stay as they are.',
  examples: ['klines config set mirror /data/klines', 'klines config set interval 1h,1d'],
  args: {
    key: Args.string({ description: 'Long name of a flag.', required: true }),
    value: Args.string({ description: 'Its value; true or false; a list joined by commas.', required: true }),
  },
  async run({ args, config, warn, show }) {
    const { setSetting } = await import('../../cli/config/settings.js')
    const { ConfigSet } = await import('../reports/config.js')
    show(ConfigSet, await setSetting(config, args, warn))
  },
})
