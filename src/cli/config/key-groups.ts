import { CANDLE_ENTRIES } from '../../options/candle-options.js'
import type { OptionGroup } from '../../options/option.js'
import { OUTPUT_ENTRIES } from '../../options/output-options.js'

/**
 * Who may set which flag in a config file. The file of a working folder can come with a project that someone else wrote, so it
 * may say what is shown and how much is requested. It may not choose what is written, removed, served or sent, nor weaken a
 * check: that is up to the user. A flag that is in no group is refused, too.
 */

/** Flags of one subject. */
export interface KeyGroup {
  /** What they are about. */
  readonly about: string
  readonly names: readonly string[]
}

/** What a folder's file and the user's file may set. */
export const FOLDER_GROUPS: readonly KeyGroup[] = [
  { about: 'which candles', names: ['interval', ...flagsOf('which candles')] },
  { about: 'how they are written', names: ['format', ...flagsOf('how they are written')] },
  { about: 'how pictures look', names: ['theme', 'width', 'height', 'log', 'ascii'] },
  { about: 'what is printed', names: ['json', 'quiet', 'verbose', 'progress', 'per-series', 'fingerprint', 'all'] },
  { about: 'limits of requests', names: ['concurrency', 'retries', 'timeout', 'max-rate', 'offline'] },
  // Each run that uses them says so. The address is not that of the greeting API, and the mirror lies inside the folder.
  { about: 'where candles come from', names: ['base-url', 'mirror'] },
]

/** The flags of the table of options in a group. */
function flagsOf(group: OptionGroup): string[] {
  return [...CANDLE_ENTRIES, ...OUTPUT_ENTRIES].filter(({ option }) => option.group === group).map(({ flag }) => flag)
}

/** `base-url` of the greeting commands is in this group, too: user data goes there. */
export const GREETING_GROUP: KeyGroup = {
  about: 'what is sent to the greeting API, and where that is',
  names: ['email', 'name', 'age', 'notify'],
}

/** What only the user's file may set. */
export const USER_GROUPS: readonly KeyGroup[] = [
  // Paths outside the folder. A layout turns the file that the user names into a folder.
  { about: 'which files are read and written', names: ['lake', 'layout', 'partition', 'table', 'mkdir'] },
  // An address that everyone can reach, downloads that others cause, a browser that opens.
  {
    about: 'what the server does and who can reach it',
    names: ['host', 'port', 'upstream', 'strict', 'stream-text', 'open'],
  },
  GREETING_GROUP,
  // Cached windows are replaced, work is left undone, a run does not end.
  { about: 'what a run does', names: ['refresh', 'repair', 'check', 'dry-run', 'watch'] },
  // Without a check, everything passes it.
  { about: 'what passes a check', names: ['audit', 'fail-on-gaps'] },
  // 256 threads take some 9 GB.
  { about: 'memory of this machine', names: ['threads'] },
]

/** What no file may set, and why. */
export const REFUSED: Readonly<Record<string, string>> = {
  force: 'it replaces files, so every command line has to say it',
  yes: 'it removes files without a question, so every command line has to say it',
  prune: 'it removes files, so every command line has to say it',
  vacuum: 'it removes files, so every command line has to say it',
  output: 'it names the file of one run',
  lock: 'it names the file of one run',
  series: 'it names what the files of one run have',
  data: 'it names a file that is sent to the server, so every command line has to say it',
  help: 'it is not a setting',
  version: 'it is not a setting',
}

/** The keys that a folder's file may set. */
export const FOLDER_KEYS: readonly string[] = FOLDER_GROUPS.flatMap(({ names }) => names)

/** Commands that remove files of a mirror: which mirror that is, the user says. */
export const REMOVING_COMMANDS: readonly string[] = ['mirror clear', 'mirror prune']

/** What a folder's file may set: a line for each group. */
export function describeFolderKeys(): string[] {
  return FOLDER_GROUPS.map(({ about, names }) => `${about}: ${names.join(', ')}`)
}
