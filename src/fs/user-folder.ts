import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** By convention the home of a user who has none: no folder of this name may exist. */
export const NO_HOME = '/nonexistent'

/** Where a platform keeps the files of programs: in the folder that a variable names, or else below the home folder. */
interface Place {
  readonly variable?: string
  readonly belowHome: string
  /** The folder of this program there. */
  readonly own: string
}

type Kind = 'cache' | 'config'

const LINUX: Record<Kind, Place> = {
  cache: { variable: 'XDG_CACHE_HOME', belowHome: '.cache', own: 'klines' },
  config: { variable: 'XDG_CONFIG_HOME', belowHome: '.config', own: 'klines' },
}
const MACOS: Record<Kind, Place> = {
  cache: { belowHome: 'Library/Caches', own: 'klines' },
  config: { belowHome: 'Library/Preferences', own: 'klines' },
}
const WINDOWS: Record<Kind, Place> = {
  cache: { variable: 'LOCALAPPDATA', belowHome: 'AppData/Local', own: 'klines/Cache' },
  config: { variable: 'APPDATA', belowHome: 'AppData/Roaming', own: 'klines/Config' },
}

/**
 * The user's folder of this program for what can be downloaded again, or for settings; undefined for a user without a home. As
 * the XDG specification demands, a path that is not absolute is ignored: it would be another folder in each working folder.
 */
export function findUserFolder(kind: Kind): string | undefined {
  const places = { darwin: MACOS, win32: WINDOWS }[process.platform as string] ?? LINUX
  const { variable, belowHome, own } = places[kind]
  const named = variable && process.env[variable]
  if (named && isAbsolute(named)) return join(named, own)
  const home = findHome()
  return home && join(home, belowHome, own)
}

/** HOME if it is absolute, or else what the system knows of the user. */
function findHome(): string | undefined {
  for (const find of [homedir, () => userInfo().homedir]) {
    try {
      const home = find()
      if (isAbsolute(home)) return home === NO_HOME ? undefined : home
    } catch {
      // The system does not know this user.
    }
  }
  return undefined
}
