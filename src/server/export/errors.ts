import { type ErrorCode, isKlinesError, KlinesError } from '../../klines/errors.js'
import { CANDLE_ENTRIES } from '../../options/candle-options.js'
import { renameOptions } from '../../options/option.js'
import { OUTPUT_ENTRIES } from '../../options/output-options.js'
import { HttpError } from '../http/error.js'

/** The statuses of errors that a client can do something about; any other is an internal error. */
const STATUSES: Partial<Record<ErrorCode, HttpError['statusCode']>> = {
  unknown_symbol: 404,
  unknown_interval: 400,
  bad_time: 400,
  bad_range: 400,
  bad_option: 400,
  bad_output: 400,
  no_candles: 404,
  window_missing: 409,
  incomplete: 409,
  // What the mirror has does not fit the requested form.
  digits_lost: 409,
}

/** What options of the library are called here. */
const NAMES = new Map<string, string>([
  ...[...OUTPUT_ENTRIES, ...CANDLE_ENTRIES].map(({ name, flag }): [string, string] => [name, flag]),
  ['intervals', 'the interval of the path'],
  ['error.data', 'cause'],
])

/** How an error is converted. */
interface ErrorOptions {
  /** The status instead of the usual one. */
  readonly status?: HttpError['statusCode'] | undefined
  /** Folder of the mirror, which no client sees. */
  readonly root?: string | undefined
}

/**
 * Converts an error of the library to an `HttpError`: its message and advice in the words of the query, and the windows that it
 * names as its cause. Returns any other error unchanged.
 */
export function toExportError(error: unknown, { status, root }: ErrorOptions = {}): unknown {
  if (!(error instanceof KlinesError)) return error
  const statusCode = status ?? STATUSES[error.code]
  if (statusCode === undefined) return error
  // The library's message names the folder.
  const message = error.code === 'window_missing' ? 'The mirror has no candles yet.' : toLine(error.message)
  const text = [message, ...error.suggestions].join(' ')
  const failures = isKlinesError(error, 'incomplete') ? error.data.failures : undefined
  const cause = failures?.map(({ symbol, interval, startDate, reason }) => {
    return { symbol, interval, startDate, message: hideRoot(reason, root) }
  })
  return new HttpError(statusCode, hideRoot(toQueryNames(text), root), { cause })
}

/** A message with a line for each cause as one line. */
function toLine(message: string): string {
  const [first, ...causes] = message.split('\n')
  return causes.length === 0 ? first : `${first} ${causes.join('; ')}.`
}

function toQueryNames(text: string): string {
  return renameOptions(text, (name, value) => {
    const parameter = NAMES.get(name)
    return parameter === undefined || value === undefined ? parameter : `${parameter}=${value}`
  })
}

function hideRoot(text: string, root: string | undefined): string {
  return root === undefined ? text : text.replaceAll(`${root}/`, '')
}
