import * as Args from '@oclif/core/args'
import { command } from '../../cli/command.js'
import { variableOf } from '../../cli/flags/group.js'

export default command({
  summary: 'Set a default in your config file.',
  description: 'Other keys of the file stay as they are.',
  examples: ['klines config set mirror /data/klines', 'klines config set interval 1h,1d'],
  args: {
    key: Args.string({ description: 'Long name of a flag.', required: true }),
    value: Args.string({ description: 'Its value; true or false; a list joined by commas.', required: true }),
  },
  async run({ args: { key, value: text }, config, warn, show }) {
    const { parseSetting } = await import('../../cli/config/defaults.js')
    const { readConfigFile, requireConfigPath, writeConfigFile } = await import('../../cli/config/file.js')
    const { ConfigSet } = await import('../reports/config.js')
    const path = requireConfigPath()
    const value = await parseSetting(config, key, text)
    writeConfigFile(path, { ...readConfigFile(path), [key]: value })
    const variable = variableOf(key)
    if (process.env[variable]) warn(`It has no effect here: ${variable} overrides it.`)
    show(ConfigSet, { path, key, value })
  },
})
