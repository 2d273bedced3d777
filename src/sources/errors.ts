import { BINANCE, isExchange, isSourceName, marketName, toAddress } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'
import { trimPeriod } from '../candles/text.js'
import { banFile } from './bans.js'
import { FetchError } from './fetch-error.js'
import type { Source } from './source.js'

const CHECK_ADDRESS =
  'Check the network and --base-url; --base-url sample tries everything with synthetic sample data and no network.'
const SIGN_IN =
  'Another address, or the sign-in page of a network, may have answered: check --base-url, and open it in a browser.'
const MORE_TIME = 'Check the network and --base-url; a slow service may need a longer --timeout, in seconds.'
const TRY_LATER = 'Try again later; what was downloaded stays in the mirror.'
const WORK_OFFLINE = 'klines export works offline, with what the mirror has.'

/**
 * The error for a service that does not answer, or answers as something else. `what`: what could not be downloaded, as part of a
 * sentence. `isExchangeHost`: a service without lists has the exchange's API.
 */
export function unreachable(name: string, failure: FetchError, what: string, isExchangeHost = false): KlinesError {
  const { status, tries, message: reason, notJson, timedOut, movedTo } = failure
  const other = isExchangeHost ? `${BINANCE}:${name}` : isExchange(name) ? `${marketName(name)}:${movedTo}` : movedTo
  const isAway = failure.unreachable && status !== undefined
  const usual = failure.advice ?? (notJson ? SIGN_IN : timedOut ? MORE_TIME : isAway ? TRY_LATER : CHECK_ADDRESS)
  const advice = isSourceName(other) ? `Run the same command with --base-url ${other}.` : usual
  const service = isExchange(name) ? `The exchange at ${toAddress(name)}` : `The service at ${name}`
  return new KlinesError('unreachable', `${service} ${describeFailure(failure, what)}.`, {
    cause: failure,
    suggestions: [advice, WORK_OFFLINE],
    data: { baseUrl: name, ...(status !== undefined && { status }), tries, reason },
  })
}

/** A source without its lists counts as unreachable; a list with wrong contents is `bad_list`. */
export async function request<T>(source: Source, what: string, sent: Promise<T>): Promise<T> {
  try {
    return await sent
  } catch (error) {
    if (!(error instanceof FetchError)) throw error
    const isRefused = error.cause instanceof KlinesError && !error.notJson
    if (isRefused) throw new KlinesError('bad_list', error.message, { cause: error, data: { baseUrl: source.name } })
    throw unreachable(source.name, error, what, error.status === 404 && (await source.isExchangeHost?.()))
  }
}

/** What a service did, as the rest of a sentence about it; its own words come last. */
function describeFailure(failure: FetchError, what: string): string {
  const { status, words, notJson } = failure
  const isAnswer = status !== undefined || notJson
  const tries = failure.tries > 1 ? `; tried ${failure.tries} times for ${what}` : isAnswer ? ` for ${what}` : ''
  if (notJson) return `did not answer with JSON${tries}`
  // A redirect has a reason of its own.
  if (status !== undefined && status >= 400) return `answered ${nameStatus(status)}${tries}${words ? `: ${words}` : ''}`
  const fault = failure.unreachable ? 'cannot be reached' : 'sent a response that cannot be used'
  return `${fault}: ${trimPeriod(failure.message)}${tries}`
}

const COME_BACK = 'Run the same command again after that; what was downloaded stays in the mirror.'

/** The error for a service that refuses requests until a time, ms UTC. */
export function rateLimited(
  name: string,
  status: number,
  untilTime: number,
  suggestions = [COME_BACK],
  verb = 'answered',
) {
  // The next second, so that nobody comes back too early.
  const until = new Date(Math.ceil(untilTime / 1000) * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
  const what = status === 418 ? 'this address is banned' : 'rate limited'
  const message = `${name} ${verb} ${nameStatus(status)}: ${what} until ${until}.`
  return new KlinesError('rate_limited', message, { suggestions, data: { status, until } })
}

/** The error for a ban that an earlier run was told of. */
export function stillBanned(name: string, untilTime: number): KlinesError {
  const remembered = `No request was sent: ${banFile()} remembers it. Remove that file if this machine has another address now.`
  const advice = ['Wait until then: each request before that makes the ban longer.', remembered]
  return rateLimited(name, 418, untilTime, advice, 'answered before')
}

/** `503 (Service Unavailable)`. */
export function nameStatus(status: number): string {
  // Only an error needs the names, and node:http takes 4 ms to load.
  const name = process.getBuiltinModule('node:http').STATUS_CODES[status]
  return name === undefined ? String(status) : `${status} (${name})`
}
