import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BooleanFlag, Config, FlagInput, OptionFlag } from '@oclif/core/interfaces'
import { hideCredentials, toSourceName } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'
import { isObject } from '../candles/json.js'
import { nearest } from '../candles/suggest.js'
import { splitNames } from '../candles/text.js'
import { describeErrno } from '../fs/errno.js'
import { findUserFolder } from '../fs/folders.js'
import { cleanText } from '../sources/fetch-error.js'
import { limitPolicy, RETRY_POLICY } from '../sources/retry.js'
import { variableOf } from './flags/group.js'

type FlagValue = boolean | string | number | (string | number)[]
/** Values of flags by their long names. */
export type ConfigDefaults = ReadonlyMap<string, FlagValue>

/** A value of a flag, by its long name, and the variable or the file (`source`) that sets it. */
export interface Setting {
  readonly key: string
  readonly value: FlagValue
  readonly origin: 'environment' | 'user'
  readonly source: string
  readonly overridden: boolean
}

/** What reads a text of a flag when its command runs. It is asked before, so that the file has nothing that every command refuses. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'base-url': toSourceName,
  interval: async text => text.toLowerCase() === 'all' || (await import('../candles/intervals.js')).parseInterval(text),
  from: async text => (await import('../candles/time-range.js')).parseInstant(text, Date.now()),
  to: async text => (await import('../candles/time-range.js')).parseInstant(text, Date.now()),
  last: async text => (await import('../candles/time-range.js')).timeBefore(Date.now(), text),
  'max-age': async text => (await import('../candles/time-range.js')).timeBefore(Date.now(), text),
  resample: async text => (await import('../rows/target-interval.js')).parseTargetInterval(text),
  columns: async text => (await import('../formats/row-format.js')).parseColumns([text]),
  retries: text => limitPolicy(RETRY_POLICY, { retries: Number(text) }),
  timeout: text => limitPolicy(RETRY_POLICY, { timeout: Number(text) }),
}

const REFUSED = ['force', 'prune', 'output', 'lock']

/** In the platform's config folder, such as `~/.config/klines`; undefined for a user without a home folder. */
function findConfigPath(): string | undefined {
  const folder = findUserFolder('config')
  return folder && join(folder, 'klines.config.json')
}

function readConfigFile(path: string | undefined): Readonly<Record<string, unknown>> {
  if (path === undefined || !existsSync(path)) return {}
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))
    if (isObject(value)) return value
    throw new SyntaxError('Expected an object of flags, such as {"mirror":"data","interval":["1h","1d"]}')
  } catch (cause) {
    const isContent = cause instanceof SyntaxError
    const what = isContent ? `${path} is not JSON` : `Cannot read ${path}`
    const reason = isContent ? cleanText(cause.message) : describeErrno(cause)
    throw new KlinesError('bad_config', `${what}: ${reason}.`, { cause })
  }
}

/** Changes the object in the user's file. Returns its path. Throws `bad_config` and what `writeFiles` throws. */
export async function changeConfigFile(
  change: (content: Record<string, unknown>, path: string) => void,
): Promise<string> {
  const path = findConfigPath()
  if (path === undefined) {
    const message = "The user's config file lies in the home folder, and this user has none."
    throw new KlinesError('bad_config', message, { suggestions: ['Set HOME to the path of a folder.'] })
  }
  const content = { ...readConfigFile(path) }
  change(content, path)
  const { writeFiles } = await import('../engine/output-file.js')
  await writeFiles([{ path, bytes: Buffer.from(`${JSON.stringify(content, null, 2)}\n`) }], { force: true })
  return path
}

/** A flag with a variable of its own has a meaning of its own, such as `base-url` of `openapi`. */
function isKey(name: string, flag: { readonly env?: string | undefined } | undefined): boolean {
  return flag?.env === variableOf(name) && !REFUSED.includes(name)
}

async function readSettings(config: Config): Promise<ConfigDefaults> {
  const [path, settings] = [findConfigPath(), new Map<string, FlagValue>()]
  for (const [name, value] of Object.entries(readConfigFile(path)))
    settings.set(name, await parseSetting(config, name, value, `${path}: `))
  return settings
}

/** Every value of an environment variable or the config file, by key, the strongest first. */
export async function listSettings(config: Config) {
  const path = findConfigPath()
  const variables = new Map<string, Setting>()
  for (const [key, { env: source = '' }] of config.commands.flatMap(({ flags }) => Object.entries(flags))) {
    const value = process.env[source]
    if (value) variables.set(source, { key, value, origin: 'environment', source, overridden: false })
  }
  const settings = [...(await readSettings(config))].map(([key, value]): Setting => {
    return { key, value, origin: 'user', source: String(path), overridden: variables.has(variableOf(key)) }
  })
  // Sorting is stable: what overrides comes first.
  const order = ({ key: a }: Setting, { key: b }: Setting) => (a < b ? -1 : Number(a > b))
  return { values: [...variables.values(), ...settings].sort(order), path }
}

/** A value as its flag parses it. `prefix`: of the message. Throws `bad_config`. */
export async function parseSetting({ commands }: Config, name: string, value: unknown, prefix = '') {
  const command = commands.find(({ flags }) => isKey(name, flags[name]))
  if (command === undefined) throw unknownKey(commands, name, prefix)
  const { flags } = await command.load()
  // biome-ignore lint/suspicious/noExplicitAny: flags of every type
  const flag = flags[name] as OptionFlag<any> | BooleanFlag<any>
  const shown = cleanText(JSON.stringify(value), 100)
  const refuse = (reason: string) => new KlinesError('bad_config', `${prefix}${name} is ${shown}. ${reason}`)
  if (flag.type === 'boolean') {
    if (['true', 'false'].includes(String(value))) return String(value) === 'true'
    throw refuse('Expected true or false.')
  }
  const { multiple, options } = flag
  const items = multiple ? [value].flat() : [value]
  const isText = items.every(item => typeof item === 'number' || (typeof item === 'string' && item !== ''))
  const texts = isText ? items.flatMap(item => (multiple ? splitNames([String(item)]) : String(item))) : []
  if (texts.length === 0 || texts.some(text => options?.includes(text) === false)) {
    const what = options ? `one of ${options.join(', ')}` : multiple ? 'a list of texts' : 'a text or a number'
    throw refuse(`Expected ${what}.`)
  }
  const parse = (text: string) => flag.parse(text, {} as never, flag as never)
  const values = await Promise.all(texts.map(parse)).catch(({ message }) => Promise.reject(refuse(message)))
  await Promise.all(values.map(async value => READERS[name]?.(String(value)))).catch(({ message, suggestions }) => {
    throw new KlinesError('bad_config', `${prefix}${name}: ${message}`, { suggestions })
  })
  return (multiple ? values : values[0]) as FlagValue
}

function unknownKey(commands: Config['commands'], name: string, prefix: string): KlinesError {
  if (REFUSED.includes(name))
    return new KlinesError('bad_config', `${prefix}"${name}" cannot be set: every command line has to say it.`)
  const names = commands.flatMap(({ flags }) => Object.keys(flags).filter(flag => isKey(flag, flags[flag])))
  const near = nearest(name, names)
  const advice = near ? `Did you mean ${near}?` : 'Expected the long name of a flag, such as interval.'
  return new KlinesError('bad_config', `${prefix}Unknown key "${cleanText(name, 100)}".`, { suggestions: [advice] })
}

/** What the file sets for a command with these flags. Throws `bad_config`. */
export async function findDefaults(config: Config, id: string | undefined, flags: FlagInput): Promise<ConfigDefaults> {
  // `klines config` mends the file.
  if (id?.split(':')[0] === 'config') return new Map()
  return new Map([...(await readSettings(config))].filter(([name]) => isKey(name, flags[name])))
}

/** Copies of flags with these defaults. `--no-NAME` turns off any boolean, as the file may have turned it on. */
export function applyDefaults<Flags extends FlagInput>(flags: Flags, defaults: ConfigDefaults): Flags {
  const copies = Object.entries(flags).map(([name, flag]) => {
    const initial = defaults.get(name) ?? flag.default
    if (flag.type === 'option') return [name, { ...flag, default: initial }]
    // oclif takes any text that it does not know for "off".
    const { env: variable, ...copy } = flag
    const readDefault = async () => (variable && readSwitch(variable)) ?? initial
    return [name, { ...copy, allowNo: true, default: readDefault }]
  })
  return Object.fromEntries(copies)
}

/** Where values come from that the message of an error names, and the command line (`argv`) does not: at most one sentence. */
export function describeOrigins(flags: FlagInput, defaults: ConfigDefaults, argv: readonly string[], message: string) {
  const words = message.split(/[\s"'=,()]+/).map(word => word.replace(/[/.:]+$/, ''))
  const origins = Object.entries(flags).flatMap(([name, { env = '', type, char }]) => {
    const value = process.env[env] ? process.env[env] : defaults.get(name)
    const isGiven = argv.some(word => [`--${name}`, `-${char}`].includes(word.split('=', 1)[0]))
    if (value === undefined || isGiven) return []
    const values = type === 'boolean' ? [] : formatValue(name, value).split(',')
    if (![`--${name}`, ...values].some(text => words.includes(text.replace(/\/+$/, '')))) return []
    return process.env[env] ? env : `${name} in ${findConfigPath()}`
  })
  return origins.length > 0 ? [`Set elsewhere: ${origins.join(', ')}. klines config shows these values.`] : []
}

/** A value for a person, without passwords: `1h,1d`. */
export function formatValue(name: string, value: FlagValue): string {
  const text = [value].flat().map(String).join(',')
  return name === 'base-url' ? hideCredentials(text) : text
}

const ON = ['1', 'true', 'yes', 'y', 'on']
const OFF = ['0', 'false', 'no', 'n', 'off']

/** Throws `bad_option` for a text that is neither on nor off: taken for "off", it would turn off a check without a word. */
function readSwitch(variable: string): boolean | undefined {
  const value = process.env[variable] ?? ''
  if (value === '' || isOn(variable)) return value === '' ? undefined : true
  if (OFF.includes(value.toLowerCase())) return false
  const expected = `Expected one of ${ON.join(', ')}, or of ${OFF.join(', ')}, or ${variable}= without a value.`
  throw new KlinesError('bad_option', `${variable} is "${cleanText(value, 100)}". ${expected}`)
}

export function isOn(variable: string): boolean {
  return ON.includes((process.env[variable] ?? '').toLowerCase())
}

/** Whether an error is printed as JSON: it may come before the flags are parsed. */
export function wantsJson(argv: readonly string[], defaults?: ConfigDefaults): boolean {
  const isDefault = process.env.KLINES_JSON ? isOn('KLINES_JSON') : defaults?.get('json') === true
  return argv.includes('--json') || (isDefault && !argv.includes('--no-json'))
}
