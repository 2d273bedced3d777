import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { describeErrno, errnoCode } from '../../fs/errno.js'
import { makeFolder } from '../../fs/make-folder.js'
import { tempName } from '../../fs/temp-name.js'
import { findUserFolder } from '../../fs/user-folder.js'
import { KlinesError } from '../../klines/errors.js'
import { isObject } from '../../klines/json.js'
import { parseJsonObject } from '../json-object.js'
import { type ConfigKey, formatKey, parseKey } from './keys.js'

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

/** Most bytes of a config file. */
const MAX_BYTES = 1024 * 1024

/** The JSON of a config file: flags, and objects of flags by the name of a command. */
export type ConfigContent = Record<string, unknown>

/**
 * Reads a config file; undefined when there is none. A link is followed to the user's own file alone. Throws `bad_config` with the
 * line of a fault.
 */
export function readConfigFile({ origin, path }: ConfigPath): ConfigContent | undefined {
  if (origin === 'folder') refuseLink(path)
  const bytes = readRegularFile(path)
  if (bytes === undefined) return undefined
  const parsed = parseJsonObject(bytes)
  if ('object' in parsed) return parsed.object
  const suggestions = ['Expected a JSON object of flags, such as {"mirror":"data","interval":["1h","1d"]}.']
  throw new KlinesError('bad_config', `${path} ${parsed.problem}.`, { cause: parsed.cause, suggestions })
}

/** A folder's file may come from strangers, and a link to any file of the user. */
function refuseLink(path: string): void {
  if (!isVisible(path) || !lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return
  throw new KlinesError('bad_config', `${path} is a symbolic link. Expected a regular file in a folder.`, {
    suggestions: ['Replace it by the file itself, or put its keys into your own file: klines config path.'],
  })
}

/** Links are followed, and a FIFO is opened without waiting for a writer. */
function readRegularFile(path: string): Buffer | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw new KlinesError('bad_config', `${path} is not a regular file. Expected a JSON file.`)
    if (stat.size <= MAX_BYTES) return readFileSync(descriptor)
    const message = `${path} has ${stat.size} bytes. Expected at most ${MAX_BYTES}.`
    throw new KlinesError('bad_config', message)
  } catch (cause) {
    if (cause instanceof KlinesError) throw cause
    const code = errnoCode(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR' || !isVisible(path)) return undefined
    if (code === 'ENXIO') throw new KlinesError('bad_config', `${path} is not a regular file. Expected a JSON file.`)
    throw new KlinesError('bad_config', `Cannot read ${path}: ${describeErrno(cause)}.`, { cause })
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** False where this user may not even look into the folder, such as the home of another user. */
function isVisible(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** Writes a config file whole or not at all, with the mode of the old one. Throws `output_unwritable`. */
export function writeConfigFile({ origin, path }: ConfigPath, object: ConfigContent): void {
  try {
    makeFolder(dirname(path))
    const old = statSync(path, { throwIfNoEntry: false })
    // A link of the user's stays a link to the file.
    const target = old && origin === 'user' ? realpathSync(path) : path
    replaceFile(target, Buffer.from(`${JSON.stringify(object, null, 2)}\n`), old?.mode)
  } catch (cause) {
    throw new KlinesError('output_unwritable', `Cannot write ${path}: ${describeErrno(cause)}.`, { cause })
  }
}

function replaceFile(target: string, bytes: Buffer, mode: number | undefined): void {
  const temp = join(dirname(target), `.${basename(target)}.${tempName()}.tmp`)
  const descriptor = openSync(temp, 'wx', 0o666)
  try {
    try {
      writeFileSync(descriptor, bytes)
      if (fstatSync(descriptor).size !== bytes.length) throw new Error(`Short write: ${temp}`)
      if (mode !== undefined) fchmodSync(descriptor, mode)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temp, target)
  } catch (error) {
    rmSync(temp, { force: true })
    throw error
  }
}

/** A copy of a file's object with a value; new keys come last. Throws `bad_config` when the section is not one. */
export function withValue(object: ConfigContent, key: ConfigKey, value: unknown): ConfigContent {
  const { command, name } = key
  if (command === undefined) {
    if (!isObject(own(object, name))) return { ...object, [name]: value }
    const message = `"${name}" holds the flags of a command in this file. Expected the key of a flag.`
    throw new KlinesError('bad_config', message, {
      suggestions: [`klines config unset "${name}" removes all of them.`],
    })
  }
  const section = own(object, command) ?? {}
  if (!isObject(section)) {
    const message = `"${command}" is not an object in this file. Expected one, for ${formatKey(key)}.`
    throw new KlinesError('bad_config', message, { suggestions: [`klines config unset "${command}" removes it.`] })
  }
  return { ...object, [command]: { ...section, [name]: value } }
}

/** A copy of a file's object without a key, a section, or a key of a section; undefined when there is no such key. */
export function withoutKey(object: ConfigContent, text: string): ConfigContent | undefined {
  if (Object.hasOwn(object, text)) return omit(object, text)
  const { command, name } = parseKey(text)
  const section = command === undefined ? undefined : own(object, command)
  if (command === undefined || !isObject(section) || !Object.hasOwn(section, name)) return undefined
  const rest = omit(section, name)
  return Object.keys(rest).length === 0 ? omit(object, command) : { ...object, [command]: rest }
}

function omit(object: ConfigContent, key: string): ConfigContent {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key))
}

/** A value of the object itself, not of its prototype. */
function own(object: ConfigContent, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
