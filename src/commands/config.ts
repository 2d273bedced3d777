import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as Args from '@oclif/core/args'
import { KlinesError } from '../candles/errors.js'
import { command } from '../cli/command.js'
import { ownFile } from '../version.js'

export const config = command({
  summary: 'Show the defaults of flags, and where each comes from.',
  description: `Your config file, klines.config.json in the config folder of the platform, is a JSON object of flags by their long names:

  { "interval": ["1h", "1d"], "mirror": "/data/klines" }

The order is: command line, environment variable, your file, default. --no-NAME turns off a flag that the file turns on, such as --no-quiet.

force, prune, output and lock cannot be set.`,
  examples: ['klines config', 'klines config --json', 'klines config set interval 1h,1d'],
  async run({ config, print }) {
    const { listSettings } = await import('../cli/config.js')
    const { Config } = await import('./reports/local.js')
    print(Config, await listSettings(config))
  },
})

export const set = command({
  summary: 'Set a default in your config file.',
  description: 'Other keys of the file stay as they are.',
  examples: ['klines config set mirror /data/klines', 'klines config set interval 1h,1d'],
  args: {
    key: Args.string({ description: 'Long name of a flag.', required: true }),
    value: Args.string({ description: 'Its value; true or false; a list joined by commas.', required: true }),
  },
  async run({ args: { key, value: text }, config, show }) {
    const { changeConfigFile, parseSetting } = await import('../cli/config.js')
    const { ConfigSet } = await import('./reports/local.js')
    const parsed = await parseSetting(config, key, text)
    // Another working folder must not mean another mirror.
    const value = key === 'mirror' ? resolve(String(parsed)) : parsed
    const path = await changeConfigFile(content => {
      content[key] = value
    })
    show(ConfigSet, { path, key, value })
  },
})

export const unset = command({
  summary: 'Remove a key from your config file.',
  description: 'Any key can be removed, also one that is not valid.',
  examples: ['klines config unset mirror'],
  args: { key: Args.string({ description: 'Key of the file.', required: true }) },
  async run({ args: { key }, show }) {
    const { changeConfigFile } = await import('../cli/config.js')
    const { ConfigUnset } = await import('./reports/local.js')
    const path = await changeConfigFile((content, path) => {
      if (!Object.hasOwn(content, key)) {
        const suggestions = ['klines config lists every key.']
        throw new KlinesError('bad_config', `${path} does not set "${key}".`, { suggestions })
      }
      delete content[key]
    })
    show(ConfigUnset, { path, key })
  },
})

export const completion = command({
  summary: 'Print the completion script of a shell.',
  description:
    'The script completes commands, flags, symbols, intervals, formats, columns and files. Start a new shell afterwards.',
  examples: [
    { description: 'bash: add this line to ~/.bashrc', command: 'eval "$(klines completion bash)"' },
    { description: 'zsh: add this line to ~/.zshrc, after compinit', command: 'source <(klines completion zsh)' },
    {
      description: 'fish: run this once',
      command: 'klines completion fish > ~/.config/fish/completions/klines.fish',
    },
  ],
  args: { shell: Args.string({ description: 'The shell.', options: ['bash', 'zsh', 'fish'], required: true }) },
  async run({ args: { shell }, print }) {
    const { Completion } = await import('./reports/local.js')
    const path = `cli/completion/scripts/klines.${shell}`
    print(Completion, { shell, script: readFileSync(ownFile(path), 'utf8').trimEnd() })
  },
})
