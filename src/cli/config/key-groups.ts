import { lstatSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { KlinesError } from '../../klines/errors.js'
import { CANDLE_ENTRIES } from '../../options/candle-options.js'
import type { OptionGroup } from '../../options/option.js'
import { OUTPUT_ENTRIES } from '../../options/output-options.js'
import { printable } from '../terminal/text.js'
import { findUserConfig } from './file.js'
import { type CommandFlags, type ConfigKey, findFlags, formatKey, isShared } from './keys.js'

/**
 * Who may set which flag in a config file. The file of a working folder can come with a project that someone else wrote, so it
 * may say what is shown and how much is requested. It may not choose what is written, removed, served or sent, nor weaken a
 * check: that is up to the user. A flag that is in no group is refused, too.
 */

/** Flags of one subject. */
interface KeyGroup {
  /** What they are about. */
  readonly about: string
  readonly names: readonly string[]
}

/** What a folder's file and the user's file may set. */
export const FOLDER_GROUPS: readonly KeyGroup[] = [
  { about: 'which candles', names: ['interval', ...flagsOf('which candles')] },
  { about: 'how they are written', names: ['format', ...flagsOf('how they are written')] },
  { about: 'how pictures look', names: [...flagsOf('how pictures look'), 'ascii'] },
  { about: 'what is printed', names: ['json', 'quiet', 'verbose', 'progress', 'per-series', 'all'] },
  { about: 'limits of requests', names: ['concurrency', 'retries', 'timeout', 'max-rate', 'offline'] },
  // Each run that uses them says so. The address is not that of the greeting API, and the mirror lies inside the folder.
  { about: 'where candles come from', names: ['base-url', 'mirror'] },
]

/** The flags of the table of options in a group. */
function flagsOf(group: OptionGroup): string[] {
  return [...CANDLE_ENTRIES, ...OUTPUT_ENTRIES].filter(({ option }) => option.group === group).map(({ flag }) => flag)
}

/** `base-url` of the greeting commands is in this group, too: user data goes there. */
const GREETING_GROUP: KeyGroup = {
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
  { about: 'what passes a check', names: ['audit', 'fail-on-gaps', 'accept-list'] },
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

/** Throws `bad_config` with all keys that a folder's file may not set, and for an unknown key. */
export function checkFolderKeys(commands: readonly CommandFlags[], keys: readonly ConfigKey[]): void {
  const refused = new Map<string, ConfigKey[]>()
  for (const key of keys) {
    const about = findRefusal(commands, key)
    if (about !== undefined) refused.set(about, [...(refused.get(about) ?? []), key])
  }
  const [first] = [...refused.values()].flat()
  if (first === undefined) return
  const groups = [...refused].map(([about, members]) => `${members.map(formatKey).join(', ')} (${about})`)
  throw new KlinesError('bad_config', `A folder's file cannot set ${groups.join('; ')}.`, {
    suggestions: [adviseOwnFile(first), "klines config --help lists what a folder's file may set."],
  })
}

/** What a key is about that a folder's file may not set. */
function findRefusal(commands: readonly CommandFlags[], key: ConfigKey): string | undefined {
  const { name } = key
  const [flag] = findFlags(commands, key)
  if (name === 'base-url' && !isShared(name, flag)) return GREETING_GROUP.about
  if (FOLDER_KEYS.includes(name)) return undefined
  return USER_GROUPS.find(({ names }) => names.includes(name))?.about ?? 'not on its list'
}

function adviseOwnFile(key: ConfigKey): string {
  const path = findUserConfig()
  if (path === undefined) return 'Give it on the command line.'
  const text = formatKey(key)
  const argument = text.includes(' ') ? `"${text}"` : text
  return `Give it on the command line, or in your own file, ${path}: klines config set ${argument} VALUE.`
}

/** Throws `bad_config` for a mirror that is outside the folder of the file, or may be because a link leads to it. */
export function checkFolderValue(key: ConfigKey, value: unknown, folder: string): void {
  const fault = key.name === 'mirror' ? findMirrorFault(String(value), folder) : undefined
  if (fault === undefined) return
  const message = `${fault} Expected a folder inside ${folder}, with no ".." and no link on the way.`
  throw new KlinesError('bad_config', message, { suggestions: [adviseOwnFile(key)] })
}

function findMirrorFault(text: string, folder: string): string | undefined {
  if (printable(text) !== text) return 'It has a control character.'
  const path = relative(folder, resolve(folder, text))
  const isOutside = isAbsolute(path) || path === '..' || path.startsWith(`..${sep}`)
  // `link/../other` has another parent than its text says.
  if (isOutside || text.split(/[\\/]/).includes('..')) return "A folder's file cannot name a mirror elsewhere."
  const link = findLink(folder, path)
  return link && `${link} is a symbolic link.`
}

/** The first symbolic link below a folder on a path from there. */
function findLink(folder: string, path: string): string | undefined {
  const names = path.split(sep)
  const paths = names.map((_, index) => join(folder, ...names.slice(0, index + 1)))
  return paths.find(isLink)
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  } catch {
    // No mirror can be below it: the mirror says why.
    return false
  }
}
