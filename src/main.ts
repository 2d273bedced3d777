import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '@oclif/core/command'
import { Config } from '@oclif/core/config'
import { run as runOclif } from '@oclif/core/run'

/** The commands by id. One file holds them all (bin/bundle.js); only what a run asks for is evaluated. */
const COMMANDS: Record<string, () => Promise<{ readonly default: Command.Class }>> = {
  download: () => import('./commands/download.js'),
  export: () => import('./commands/export.js'),
  intervals: () => import('./commands/intervals.js'),
  'mirror:clear': () => import('./commands/mirror/clear.js'),
  'mirror:path': () => import('./commands/mirror/path.js'),
  'mirror:prune': () => import('./commands/mirror/prune.js'),
  'mirror:status': () => import('./commands/mirror/status.js'),
  'mirror:verify': () => import('./commands/mirror/verify.js'),
  openapi: () => import('./commands/openapi.js'),
  serve: () => import('./commands/serve.js'),
  'start-dates': () => import('./commands/start-dates.js'),
  stats: () => import('./commands/stats.js'),
  'streams:tokens': () => import('./commands/streams/tokens.js'),
  symbols: () => import('./commands/symbols.js'),
  'users:update': () => import('./commands/users/update.js'),
  verify: () => import('./commands/verify.js'),
}

/** Runs what the arguments ask for. `root` is the folder of this package. Throws what oclif throws. */
export async function run(args: string[], root: string): Promise<void> {
  const pjson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  // The plugins are for what is no command of ours: `help`, `autocomplete`, a slip of the fingers.
  const isOurs = [args.slice(0, 1), args.slice(0, 2)].some(words => Object.hasOwn(COMMANDS, words.join(':')))
  if (isOurs) pjson.oclif.plugins = []
  const config = await Config.load({ root, pjson })
  for (const command of config.commands) {
    const load = COMMANDS[command.id]
    if (!load) continue
    // oclif would look for the command's own file and import that.
    const plugin = config.plugins.get(command.pluginName ?? '')
    command.load = async () => Object.assign((await load()).default, { id: command.id, plugin })
  }
  await runOclif(args, config)
}
