import { command } from '../../cli/command.js'

export default command({
  summary: 'Show the defaults of flags, and where each comes from.',
  description: `Your config file, klines.config.json in the config folder of the platform, is a JSON object of flags by their long names:

  { "interval": ["1h", "1d"], "mirror": "/data/klines" }

The order is: command line, environment variable, your file, default. --no-NAME turns off a flag that the file turns on, such as --no-quiet.

force, prune, output, lock, series and data cannot be set. A flag that has a variable of its own, such as base-url of users update, cannot either: set the variable. The commands of klines config take no defaults from the file.`,
  examples: ['klines config', 'klines config --json', 'klines config set interval 1h,1d'],
  async run({ config, print }) {
    const { listSettings } = await import('../../cli/config/defaults.js')
    const { Config } = await import('../reports/config.js')
    print(Config, await listSettings(config))
  },
})
