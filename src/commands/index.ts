import Chart from './chart.js'
import Completion from './completion.js'
import Config from './config/index.js'
import ConfigSet from './config/set.js'
import ConfigUnset from './config/unset.js'
import Diff from './diff.js'
import Download from './download.js'
import Export from './export.js'
import Fingerprint from './fingerprint.js'
import HelpCommand from './help.js'
import Intervals from './intervals.js'
import Lock from './lock.js'
import MirrorCommand from './mirror/index.js'
import MirrorPublish from './mirror/publish.js'
import OpenApi from './openapi.js'
import Serve from './serve.js'
import StartDates from './start-dates.js'
import Stats from './stats.js'
import StreamsTokens from './streams/tokens.js'
import Symbols from './symbols.js'
import Update from './update.js'
import UsersUpdate from './users/update.js'
import Verify from './verify.js'

/** Every command by its id. oclif reads this table (`oclif.commands` in package.json). */
export const COMMANDS = {
  chart: Chart,
  completion: Completion,
  config: Config,
  'config:set': ConfigSet,
  'config:unset': ConfigUnset,
  diff: Diff,
  download: Download,
  export: Export,
  fingerprint: Fingerprint,
  help: HelpCommand,
  intervals: Intervals,
  lock: Lock,
  mirror: MirrorCommand,
  'mirror:publish': MirrorPublish,
  openapi: OpenApi,
  serve: Serve,
  'start-dates': StartDates,
  stats: Stats,
  'streams:tokens': StreamsTokens,
  symbols: Symbols,
  update: Update,
  'users:update': UsersUpdate,
  verify: Verify,
}
