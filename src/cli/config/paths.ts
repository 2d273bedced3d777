import { realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { findUserFolder } from '../../fs/user-folder.js'
import { KlinesError } from '../../klines/errors.js'

/** The name of every config file. */
export const CONFIG_FILE = 'klines.config.json'

/** Where a config file belongs to: the working folder, or the user. */
export type ConfigOrigin = 'folder' | 'user'

/** A place of a config file, which may be missing. */
export interface ConfigPath {
  readonly origin: ConfigOrigin
  readonly path: string
}

/**
 * The places of config files, the stronger one first: the working folder itself (not the folders above it), then the platform's
 * config folder, such as `~/.config/klines` (XDG_CONFIG_HOME, ~/Library/Preferences, %APPDATA%). A user without a home has none,
 * and in the config folder itself the file is the user's.
 */
export function configPaths(): ConfigPath[] {
  const [folder, user] = [pathInFolder(), findUserConfig()]
  if (user !== undefined && isSameFolder(dirname(user), dirname(folder))) return [{ origin: 'user', path: user }]
  const first: ConfigPath = { origin: 'folder', path: folder }
  return user === undefined ? [first] : [first, { origin: 'user', path: user }]
}

/** The place of one of them. Throws `bad_config` for the file of a user without a home folder. */
export function findConfigPath(origin: ConfigOrigin): ConfigPath {
  const [strongest] = configPaths()
  if (origin === 'folder') return strongest
  const path = findUserConfig()
  if (path !== undefined) return { origin, path }
  throw new KlinesError('bad_config', "The user's config file lies in the home folder, and this user has none.", {
    suggestions: ['Set HOME to the path of a folder, or add --local for the file of the working folder.'],
  })
}

/** The path of the user's config file; undefined for a user without a home folder. */
export function findUserConfig(): string | undefined {
  const folder = findUserFolder('config')
  return folder && join(folder, CONFIG_FILE)
}

function isSameFolder(one: string, other: string): boolean {
  try {
    return one === other || realpathSync(one) === realpathSync(other)
  } catch {
    // One of them does not exist, or cannot be reached.
    return false
  }
}

function pathInFolder(): string {
  try {
    return resolve(CONFIG_FILE)
  } catch {
    // The working folder was removed.
    return CONFIG_FILE
  }
}
