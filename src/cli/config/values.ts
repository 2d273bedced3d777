import * as Errors from '@oclif/core/errors'
import { parseSelectionText } from '../../download/selection.js'
import { parseConcurrency } from '../../download/sources/open-source.js'
import { parseColumns } from '../../export/row-format.js'
import { hideCredentials, SAMPLE, toSourceName } from '../../http/base-url.js'
import { cleanText, cleanValue } from '../../http/error-body.js'
import { checkLimits } from '../../http/request-limits.js'
import { KlinesError } from '../../klines/errors.js'
import { parseTargetInterval } from '../../klines/resample/target-interval.js'
import { parseInstant, timeBefore } from '../../klines/time-range.js'
import { parseThreads } from '../../threads/thread-count.js'
import type { FlagDefinition } from './keys.js'

/** The value of a flag as oclif parses it. */
export type FlagValue = boolean | string | number | readonly (string | number)[]

/** What a command checks after its flags are parsed: checked here, an error names the file and the key. Each throws. */
const CHECKS: Readonly<Record<string, (text: string) => unknown>> = {
  interval: text => parseSelectionText('all', [text]),
  columns: text => parseColumns([text]),
  from: text => parseInstant(text, Date.now()),
  to: text => parseInstant(text, Date.now()),
  last: text => timeBefore(Date.now(), text),
  resample: parseTargetInterval,
  concurrency: text => expectNumber(() => parseConcurrency(Number(text))),
  threads: text => expectNumber(() => parseThreads({ threads: Number(text) })),
  retries: text => expectNumber(() => checkLimits({ retries: Number(text) })),
  timeout: text => expectNumber(() => checkLimits({ timeout: Number(text) })),
  'max-rate': text => expectNumber(() => checkLimits({ maxRate: Number(text) })),
  'base-url': text => {
    if (hideCredentials(text) !== text) {
      throw expected('an address without a user name or password, which would be stored')
    }
    if (text !== SAMPLE) toSourceName(text)
  },
}

/** The value of a flag from a value of JSON. Throws `bad_config`, with a message of what is expected, and what a check throws. */
export async function parseValue(name: string, flag: FlagDefinition, value: unknown): Promise<FlagValue> {
  if (flag.type === 'boolean') {
    if (typeof value === 'boolean') return value
    throw expected('true or false')
  }
  const values: (string | number)[] = []
  for (const text of toTexts(flag, value)) values.push(await parseText(name, flag, text))
  return flag.multiple ? values : values[0]
}

/** What a file stores for a value of the command line: `8` for an integer, an array for a list. Throws as `parseValue` does. */
export async function parseArgument(name: string, flag: FlagDefinition, text: unknown): Promise<FlagValue> {
  const isBoolean = flag.type === 'boolean' && (text === 'true' || text === 'false')
  return parseValue(name, flag, isBoolean ? text === 'true' : text)
}

/** The value that the first flag accepts. Throws what the first flag throws when none accepts it. */
export async function parseFirst(
  flags: readonly FlagDefinition[],
  parse: (flag: FlagDefinition) => Promise<FlagValue>,
): Promise<FlagValue> {
  const results = await Promise.allSettled(flags.map(parse))
  const accepted = results.find(result => result.status === 'fulfilled')
  if (accepted) return accepted.value
  throw (results[0] as PromiseRejectedResult).reason
}

/** A value for a person, without passwords: `1h,1d`. */
export function formatValue(name: string, value: unknown): string {
  const text = [value].flat().map(String).join(',')
  return name === 'base-url' ? hideCredentials(text) : text
}

/** A value of JSON in an error, without passwords: `"1h"`. */
export function describeValue(name: string, value: unknown): string {
  const shown = name === 'base-url' && typeof value === 'string' ? hideCredentials(value) : value
  return typeof shown === 'string' ? cleanText(JSON.stringify(shown), 100) : cleanValue(shown, 100)
}

function toTexts(flag: FlagDefinition & { type: 'option' }, value: unknown): string[] {
  const values = flag.multiple && Array.isArray(value) ? value : [value]
  const texts = values.flatMap(item => {
    if (typeof item === 'number') return [String(item)]
    if (typeof item !== 'string') return ['']
    return flag.multiple && flag.delimiter ? item.split(flag.delimiter).map(part => part.trim()) : [item]
  })
  if (texts.length > 0 && !texts.includes('')) return texts
  throw expected(flag.options ? listChoices(flag.options) : flag.multiple ? 'a list of texts' : 'a text or a number')
}

async function parseText(name: string, flag: FlagDefinition & { type: 'option' }, text: string) {
  if (flag.options && !flag.options.includes(text)) throw expected(listChoices(flag.options))
  try {
    const value = (await flag.parse(text, {} as never, flag as never)) as string | number
    CHECKS[name]?.(text)
    return value
  } catch (error) {
    if (!(error instanceof Errors.CLIError)) throw error
    throw new KlinesError('bad_config', `${error.message.replace(/ but received: .*/s, '')}.`, { cause: error })
  }
}

function listChoices(options: readonly string[]): string {
  return `one of ${options.join(', ')}`
}

/** The message of a check begins with the value, which the error of a config file names anyway. */
function expectNumber(check: () => void): void {
  try {
    check()
  } catch (error) {
    throw new KlinesError('bad_config', (error as Error).message.replace(/^`\w+` is \S+\. /, ''))
  }
}

function expected(what: string): KlinesError {
  return new KlinesError('bad_config', `Expected ${what}.`)
}
