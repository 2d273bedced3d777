import { lstatSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { KlinesError } from '../../klines/errors.js'
import { printable } from '../terminal/text.js'
import { findUserConfig } from './file.js'
import { FOLDER_KEYS, GREETING_GROUP, USER_GROUPS } from './key-groups.js'
import { type CommandFlags, type ConfigKey, findFlags, formatKey, isShared } from './keys.js'

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
