import * as Args from '@oclif/core/args'
import { KlinesError } from '../../candles/errors.js'
import { command } from '../../cli/command.js'

export default command({
  summary: 'Remove a key from your config file.',
  description: 'Any key can be removed, also one that is not valid.',
  examples: ['klines config unset mirror'],
  args: { key: Args.string({ description: 'Key of the file.', required: true }) },
  async run({ args: { key }, show }) {
    const { readConfigFile, requireConfigPath, writeConfigFile } = await import('../../cli/config/file.js')
    const { ConfigUnset } = await import('../reports/config.js')
    const path = requireConfigPath()
    const { [key]: value, ...rest } = readConfigFile(path)
    if (value === undefined) {
      const suggestions = ['klines config lists every key.']
      throw new KlinesError('bad_config', `${path} does not set "${key}".`, { suggestions })
    }
    writeConfigFile(path, rest)
    show(ConfigUnset, { path, key })
  },
})
