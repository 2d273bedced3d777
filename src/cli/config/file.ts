import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describeErrno } from '../../fs/errno.js'
import { makeFolder } from '../../fs/make-folder.js'
import { tempName } from '../../fs/temp-name.js'
import { findUserFolder } from '../../fs/user-folder.js'
import { KlinesError } from '../../klines/errors.js'
import { parseJsonObject } from '../json-object.js'

/** The user's config file: values by the long names of flags. */
export type ConfigContent = Readonly<Record<string, unknown>>

/** In the platform's config folder, such as `~/.config/klines`; undefined for a user without a home folder. */
export function findConfigPath(): string | undefined {
  const folder = findUserFolder('config')
  return folder && join(folder, 'klines.config.json')
}

/** Empty where there is no file. Throws `bad_config` with the line of a fault. */
export function readConfigFile(path: string | undefined): ConfigContent {
  if (path === undefined || !existsSync(path)) return {}
  const parsed = parseJsonObject(readBytes(path))
  if ('object' in parsed) return parsed.object
  const suggestions = ['Expected a JSON object of flags, such as {"mirror":"data","interval":["1h","1d"]}.']
  throw new KlinesError('bad_config', `${path} ${parsed.problem}.`, { cause: parsed.cause, suggestions })
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new KlinesError('bad_config', `Cannot read ${path}: ${describeErrno(cause)}.`, { cause })
  }
}

/** Writes the file whole or not at all; a link stays a link. Throws `output_unwritable`. */
export function writeConfigFile(path: string, content: ConfigContent): void {
  const temp = `${path}.${tempName()}.tmp`
  try {
    makeFolder(dirname(path))
    const mode = statSync(path, { throwIfNoEntry: false })?.mode
    writeFileSync(temp, `${JSON.stringify(content, null, 2)}\n`, { flag: 'wx', flush: true, mode })
    renameSync(temp, existsSync(path) ? realpathSync(path) : path)
  } catch (cause) {
    rmSync(temp, { force: true })
    throw new KlinesError('output_unwritable', `Cannot write ${path}: ${describeErrno(cause)}.`, { cause })
  }
}
