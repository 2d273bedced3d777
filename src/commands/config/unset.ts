import * as Args from '@oclif/core/args'
import { command } from '../../cli/command.js'

export default command({
  summary: 'Remove a key from your config file.',
  description: 'Any key can be removed, also one that is not valid.',
  examples: ['klines config unset mirror'],
  args: { key: Args.string({ description: 'Key of the file.', required: true }) },
  async run({ args, show }) {
    const { unsetSetting } = await import('../../cli/config/settings.js')
    const { ConfigUnset } = await import('../reports/config.js')
    show(ConfigUnset, unsetSetting(args.key))
  },
})
