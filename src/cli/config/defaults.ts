import type * as Interfaces from '@oclif/core/interfaces'
import { readSwitch } from '../switch-variable.js'
import { loadCommands, takesDefaults, toCommandName } from './commands.js'
import { type ConfigDefaults, mergeSettings } from './merge.js'
import { readConfigFiles, readSettings } from './settings.js'

/** The defaults that config files set for a command of oclif. Throws `bad_config`. */
export async function findDefaults(config: Interfaces.Config, id: string | undefined): Promise<ConfigDefaults> {
  const files = takesDefaults(id) ? readConfigFiles() : []
  if (files.length === 0 || id === undefined) return new Map()
  const commands = await loadCommands(config)
  const command = commands.find(({ name }) => name === toCommandName(id))
  return command ? mergeSettings(command, await readSettings(commands, files)) : new Map()
}

/**
 * Copies of flags with these defaults. `--no-NAME` turns off any boolean, as a file may have turned it on, and its variable is
 * read here: oclif takes any text that it does not know for "off".
 */
export function applyDefaults<Flags extends Interfaces.FlagInput>(flags: Flags, defaults: ConfigDefaults): Flags {
  const copies = Object.entries(flags).map(([name, flag]) => {
    const initial = defaults.get(name)?.value ?? flag.default
    if (flag.type === 'option') return [name, { ...flag, default: initial }]
    const { env: variable, ...copy } = flag
    const readDefault = async () => (variable && readSwitch(variable)) ?? initial
    return [name, { ...copy, allowNo: true, default: readDefault }]
  })
  return Object.fromEntries(copies)
}

/** A line for each file that sets a default which the command line leaves as it is. */
export function describeDefaults(defaults: ConfigDefaults, given: ReadonlySet<string>): string[] {
  const names = new Map<string, string[]>()
  for (const [name, { setting }] of defaults) {
    if (!given.has(name)) names.set(setting.path, [...(names.get(setting.path) ?? []), name])
  }
  return [...names].map(([path, flags]) => `Defaults from ${path}: ${flags.join(', ')}`)
}
