import { join, resolve } from 'node:path'
import envPaths from 'env-paths'

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
 * config folder, such as `~/.config/klines` (XDG_CONFIG_HOME, ~/Library/Preferences, %APPDATA%).
 */
export function configPaths(): ConfigPath[] {
  const [folder, user] = [findConfigPath('folder'), findConfigPath('user')]
  return folder.path === user.path ? [folder] : [folder, user]
}

export function findConfigPath(origin: ConfigOrigin): ConfigPath {
  const path = origin === 'user' ? join(envPaths('klines', { suffix: '' }).config, CONFIG_FILE) : pathInFolder()
  return { origin, path }
}

function pathInFolder(): string {
  try {
    return resolve(CONFIG_FILE)
  } catch {
    // The working folder was removed.
    return CONFIG_FILE
  }
}
