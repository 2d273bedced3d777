import { dirname, relative, resolve, sep } from 'node:path'
import { SAMPLE, toSourceName } from '../../http/base-url.js'
import { KlinesError } from '../../klines/errors.js'
import { REMOVING_COMMANDS } from './key-groups.js'
import type { ConfigDefaults } from './merge.js'
import { CONFIG_FILE } from './paths.js'

/**
 * `klines.config.json sets base-url http://127.0.0.1:8787 and mirror ./candles`, where a command takes them from the folder's file.
 * `isNamed`: whether the folder of the mirror is named. If not, and the command would remove a mirror that the file chooses by
 * its address alone, throws `bad_config`.
 */
export function describeFolderSources(
  command: string,
  { defaults, given, isNamed }: { defaults: ConfigDefaults; given: ReadonlySet<string>; isNamed: boolean },
): string | undefined {
  const find = (name: string) => {
    const found = given.has(name) ? undefined : defaults.get(name)
    return found?.setting.origin === 'folder' ? { text: String(found.value), path: found.setting.path } : undefined
  }
  const [address, mirror] = [find('base-url'), find('mirror')]
  if (address && !isNamed && REMOVING_COMMANDS.includes(command)) {
    const message = `${command} removes files, and the base-url of ${address.path} would choose the mirror.`
    const suggestions = ['Choose it on the command line: --base-url URL, or --mirror DIR.']
    throw new KlinesError('bad_config', message, { suggestions })
  }
  const parts = [
    // As it is requested: letters of other scripts can look like those of a known host.
    address && `base-url ${address.text === SAMPLE ? SAMPLE : toSourceName(address.text)}`,
    mirror && `mirror ${describeInside(dirname(mirror.path), mirror.text)}`,
  ].filter(part => part !== undefined)
  return parts.length === 0 ? undefined : `${CONFIG_FILE} sets ${parts.join(' and ')}`
}

/** `./candles`, or `.` for the folder itself. */
function describeInside(folder: string, text: string): string {
  const path = relative(folder, resolve(folder, text))
  return path === '' ? '.' : `.${sep}${path}`
}
