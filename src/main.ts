// The entry of the command-line tool: bin/bundle.js makes one file of it, which loads faster than many. package.json names the
// help and the hook.
export { run } from '@oclif/core/run'
export { commandNotFound } from './cli/command-not-found.js'
export { KlinesHelp } from './cli/help.js'
export { COMMANDS } from './commands/index.js'
