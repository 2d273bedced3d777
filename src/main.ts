// The entry of the command-line tool: bin/bundle.js makes one file of it, which loads faster than many.
export { run } from '@oclif/core/run'
export { COMMANDS } from './commands/index.js'
