import { type CommandFlags, takesDefaults } from '../../../src/cli/config/keys.js'
import { formatId } from '../../../src/cli/usage.js'
import { COMMANDS } from '../../../src/commands/index.js'

/** The commands of the program that take defaults, without oclif around them. */
export const ALL: CommandFlags[] = Object.entries(COMMANDS)
  .filter(([id]) => takesDefaults(id))
  .map(([id, { baseFlags, flags }]) => ({
    name: formatId(id),
    flags: { ...baseFlags, ...flags } as CommandFlags['flags'],
  }))
