import { type CommandFlags, takesDefaults, toCommandName } from '../../../src/cli/config/commands.js'
import { COMMANDS } from '../../../src/commands/index.js'

/** The commands of the program that take defaults, without oclif around them. */
export const ALL: CommandFlags[] = Object.entries(COMMANDS)
  .filter(([id]) => takesDefaults(id))
  .map(([id, { baseFlags, flags }]) => ({
    name: toCommandName(id),
    flags: { ...baseFlags, ...flags } as CommandFlags['flags'],
  }))
