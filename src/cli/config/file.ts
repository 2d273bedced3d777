import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { KlinesError } from '../../candles/errors.js'
import { decodeUtf8, isObject } from '../../candles/json.js'
import { describeErrno } from '../../fs/errno.js'
import { makeFolder } from '../../fs/make-folder.js'
import { tempName } from '../../fs/temp-name.js'
import { findUserFolder } from '../../fs/user-folder.js'
import { cleanText } from '../../sources/error-body.js'

/** The user's config file: values by the long names of flags. */
export type ConfigContent = Readonly<Record<string, unknown>>

/** In the platform's config folder, such as `~/.config/klines`; undefined for a user without a home folder. */
export function findConfigPath(): string | undefined {
  const folder = findUserFolder('config')
  return folder && join(folder, 'klines.config.json')
}

/** The same. Throws `bad_config` for a user without a home folder. */
export function requireConfigPath(): string {
  const path = findConfigPath()
  if (path !== undefined) return path
  throw new KlinesError('bad_config', "The user's config file lies in the home folder, and this user has none.", {
    suggestions: ['Set HOME to the path of a folder.'],
  })
}

/** Empty where there is no file. Throws `bad_config` with the line of a fault. */
export function readConfigFile(path: string | undefined): ConfigContent {
  if (path === undefined || !existsSync(path)) return {}
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    throw new KlinesError('bad_config', `Cannot read ${path}: ${describeErrno(cause)}.`, { cause })
  }
  const parsed = parseJsonObject(bytes)
  if ('object' in parsed) return parsed.object
  const suggestions = ['Expected a JSON object of flags, such as {"mirror":"data","interval":["1h","1d"]}.']
  throw new KlinesError('bad_config', `${path} ${parsed.problem}.`, { suggestions })
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

/** A JSON object, or what is wrong with the bytes: `is not JSON: ... at line 3, column 5`. A byte order mark is accepted. */
export function parseJsonObject(bytes: Uint8Array): { object: ConfigContent } | { problem: string } {
  let text: string
  try {
    text = decodeUtf8(bytes)
  } catch {
    return { problem: 'is not UTF-8' }
  }
  if (text.trim() === '') return { problem: 'is empty' }
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return { object: value }
    return { problem: `is ${value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`}` }
  } catch (error) {
    return { problem: `is not JSON: ${jsonFault(text, (error as Error).message)}` }
  }
}

/** The message of JSON.parse with line and column (from 1) instead of its position or its excerpt: `Unexpected "data" at ...`. */
function jsonFault(text: string, message: string): string {
  const fault = message.replace(/(?: in JSON)? at position .*$|, (?:\.{3})?".*is not valid JSON$/s, '')
  // Not every message names the position, so the longest prefix is searched that only lacks its end.
  let position = text.length
  while (position > 0 && !lacksOnlyItsEnd(text.slice(0, position))) position--
  // A word without quotes is shown whole: the fault of `nope` is its o, because null begins with n.
  const [start] = /[\w$.+-]*$/.exec(text.slice(0, position)) ?? ['']
  const [end] = /^[\w$.+-]*/.exec(text.slice(position)) ?? ['']
  const isWord = fault.startsWith('Unexpected token') && end !== ''
  const lines = text.slice(0, isWord ? position - start.length : position).split('\n')
  const shown = isWord ? `Unexpected "${start}${end}"` : fault
  return `${cleanText(shown, 160)} at line ${lines.length}, column ${lines[lines.length - 1].length + 1}`
}

function lacksOnlyItsEnd(prefix: string): boolean {
  try {
    JSON.parse(prefix)
    return true
  } catch (error) {
    const { message } = error as Error
    const [, position = -1] = / at position (\d+)/.exec(message) ?? []
    return Number(position) >= prefix.length || /^Unterminated string|^Unexpected end/.test(message)
  }
}
