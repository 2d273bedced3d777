import type * as Interfaces from '@oclif/core/interfaces'
import { KlinesError } from '../../klines/errors.js'
import { loadCommands, takesDefaults, toCommandName } from './commands.js'
import { type ConfigDefaults, mergeSettings } from './merge.js'
import { readConfigFiles, readSettings } from './settings.js'
import { formatValue } from './values.js'

/** The defaults that config files set for a command of oclif. Throws `bad_config`. */
export async function findDefaults(config: Interfaces.Config, id: string | undefined): Promise<ConfigDefaults> {
  const files = takesDefaults(id) ? readConfigFiles() : []
  if (files.length === 0 || id === undefined) return new Map()
  const commands = await loadCommands(config)
  const command = commands.find(({ name }) => name === toCommandName(id))
  return command ? mergeSettings(command, await readSettings(commands, files)) : new Map()
}

/** Copies of flags with these defaults. `--no-NAME` turns off any boolean, as a file may have turned it on. */
export function applyDefaults<Flags extends Interfaces.FlagInput>(flags: Flags, defaults: ConfigDefaults): Flags {
  const copies = Object.entries(flags).map(([name, flag]) => {
    const found = defaults.get(name)
    const copy = flag.type === 'boolean' ? { ...flag, allowNo: true } : { ...flag }
    return [name, found ? { ...copy, default: found.value } : copy]
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

/** Adds to an error which files set the values that its message names. */
export function addOrigins(error: Error, defaults: ConfigDefaults, given: ReadonlySet<string>): void {
  if (!(error instanceof KlinesError)) return
  for (const [name, { setting, value }] of defaults) {
    const isNamed = error.message.includes(`--${name}`) || error.message.includes(`\`${toOption(name)}`)
    const isShown = [value]
      .flat()
      .some(item => typeof item === 'string' && item.length > 1 && error.message.includes(item))
    if (given.has(name) || !(isNamed || isShown)) continue
    error.suggestions.push(`${setting.path} sets ${name} to ${formatValue(name, setting.value)}.`)
  }
}

/** Messages of the library name a flag by its option: `time-format` is `timeFormat`. */
function toOption(name: string): string {
  return name.replace(/-[a-z]/g, part => part[1].toUpperCase())
}
