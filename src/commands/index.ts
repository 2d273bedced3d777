/** Every command by its id. oclif reads this table (`oclif.commands` in package.json). */
export { HelpCommand as help } from '../cli/help.js'
export { default as chart } from './chart.js'
export { completion, config, set as 'config:set', unset as 'config:unset' } from './config.js'
export { download, exportCommand as export, update } from './download.js'
export { default as follow } from './follow.js'
export { openapi, tokens as 'streams:tokens', updateUser as 'users:update' } from './greeting.js'
export { diff, fingerprint, lock } from './identity.js'
export {
  funding,
  intervals,
  mirror,
  publish as 'mirror:publish',
  startDates as 'start-dates',
  symbols,
} from './lists.js'
export { default as serve } from './serve.js'
export { stats, verify } from './verify.js'
