// The entry of the command-line tool: bin/bundle.js makes one file of it, which loads faster than many. package.json names the
// help and the hook; the commands are in a file of their own, which help does not need. What oclif needs comes before it.
import './cli/unknown-user.js'
import { run as runCommand } from '@oclif/core/run'

export { commandNotFound } from './cli/error-report.js'
export { KlinesHelp } from './cli/help.js'

/** The folder of this package, and its `package.json` if it is not the one there. */
type Package = Extract<NonNullable<Parameters<typeof runCommand>[1]>, { root: string }>

/**
 * Runs a command line. Without plugins: oclif would look for those of the user in the home folder, which may be another user's,
 * and load their code.
 */
export function run(args: string[], { root, pjson }: Pick<Package, 'root' | 'pjson'>): Promise<unknown> {
  return runCommand(args, { root, ...(pjson && { pjson }), userPlugins: false, devPlugins: false })
}
