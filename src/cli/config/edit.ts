import { KlinesError } from '../../klines/errors.js'
import type { ConfigContent } from './file.js'
import { type ConfigKey, formatKey, parseKey } from './keys.js'
import { isSection } from './settings.js'

/** A copy of a file's object with a value; new keys come last. Throws `bad_config` when the section is not one. */
export function withValue(object: ConfigContent, key: ConfigKey, value: unknown): ConfigContent {
  const { command, name } = key
  if (command === undefined) {
    if (!isSection(own(object, name))) return { ...object, [name]: value }
    const message = `"${name}" holds the flags of a command in this file. Expected the key of a flag.`
    throw new KlinesError('bad_config', message, {
      suggestions: [`klines config unset "${name}" removes all of them.`],
    })
  }
  const section = own(object, command) ?? {}
  if (!isSection(section)) {
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
  if (command === undefined || !isSection(section) || !Object.hasOwn(section, name)) return undefined
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
