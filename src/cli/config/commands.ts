import type * as Interfaces from '@oclif/core/interfaces'
import { formatId } from '../usage.js'

/** A flag as oclif defines it. */
// biome-ignore lint/suspicious/noExplicitAny: flags of every type
export type FlagDefinition = Interfaces.OptionFlag<any> | Interfaces.BooleanFlag<any>

/** A command with the flags that a config file may name. */
export interface CommandFlags {
  /** As people type it: `mirror verify`. */
  readonly name: string
  readonly flags: Readonly<Record<string, FlagDefinition>>
}

/** Whether a command takes defaults from config files. `klines config` does not, as it mends them. */
export function takesDefaults(id: string | undefined): boolean {
  return id?.split(':')[0] !== 'config'
}

/** The commands of this program that take defaults, with their flags. */
export async function loadCommands({ commands, pjson }: Interfaces.Config): Promise<CommandFlags[]> {
  const own = commands.filter(({ id, pluginName }) => pluginName === pjson.name && takesDefaults(id))
  return Promise.all(
    own.map(async command => {
      const { baseFlags, flags } = await command.load()
      return { name: formatId(command.id), flags: { ...baseFlags, ...flags } as CommandFlags['flags'] }
    }),
  )
}

/**
 * Whether a key outside of any section sets this flag. A flag with a variable of its own has another meaning than the others of
 * its name (`KLINES_GREETING_URL` of `--base-url`), so only its command's section sets it.
 */
export function isShared(name: string, flag: FlagDefinition): boolean {
  return flag.env === `KLINES_${name.toUpperCase().replaceAll('-', '_')}`
}
