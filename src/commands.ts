// What oclif loads when a command runs, as package.json says: bin/bundle.js makes one file of it.
export * as COMMANDS from './commands/index.js'
