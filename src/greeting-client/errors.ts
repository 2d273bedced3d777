import { cleanText, parseErrorBody } from '../http/error-body.js'
import type { FetchError } from '../http/fetch-error.js'
import { parseRetryAfter } from '../http/retry.js'
import { rateLimited } from '../http/service-errors.js'
import type { WholeResponse } from '../http/transport/response.js'
import { KlinesError } from '../klines/errors.js'
import { trimPeriod } from '../klines/text.js'

const ADVICE = ['Start one with klines serve, or name an address with `baseUrl`.']

/** What was requested, as error messages name it. */
export type RequestName = 'the update' | 'the token stream' | 'the OpenAPI description'

/** The error for a service that does not answer. */
export function unreachableError(baseUrl: string, cause: FetchError): KlinesError {
  return new KlinesError('unreachable', `The greeting service at ${baseUrl} cannot be reached: ${cause.message}.`, {
    cause,
    suggestions: ADVICE,
    data: { baseUrl },
  })
}

/** The error for a response that a greeting service would not send. */
export function unexpectedResponseError(
  baseUrl: string,
  request: RequestName,
  cause: FetchError,
  type: string | undefined,
): KlinesError {
  const kind = type ? ` (${cleanText(type, 60)})` : ''
  const message = `${baseUrl} is not the greeting service: its response to ${request} is something else${kind}: ${cause.message}.`
  return new KlinesError('unreachable', message, { cause, suggestions: ADVICE, data: { baseUrl } })
}

/** Converts a response that is not a success, with the server's own message; `now` in ms UTC. */
export function toKlinesError(
  baseUrl: string,
  request: RequestName,
  { status, headers, body }: WholeResponse,
  now: number,
): KlinesError {
  const waitMs = status === 429 || status === 503 ? parseRetryAfter(headers['retry-after'], now) : undefined
  if (waitMs !== undefined) return rateLimited(baseUrl, status, now + waitMs, 'Run the same command again after that.')
  const errorBody = parseErrorBody(body)
  const reason = errorBody?.message ? `: ${trimPeriod(errorBody.message)}` : ''
  const causes = errorBody?.causes ?? []
  const data = { status, ...(causes.length > 0 && { cause: causes }) }
  const newCauses = causes.filter(cause => !errorBody?.message.includes(cause))
  if (status === 429) {
    const suggestions = [...newCauses, 'Try again later, and less often.']
    return new KlinesError('rate_limited', `${baseUrl} received too many requests (429)${reason}.`, {
      suggestions,
      data,
    })
  }
  if (status >= 400 && status < 500 && status !== 408) {
    // A greeting service sends an error object.
    const suggestions = errorBody
      ? newCauses
      : ['That is not how a greeting service refuses: is `baseUrl` the right address?']
    return new KlinesError('rejected', `The server refused ${request} (${status})${reason}.`, { suggestions, data })
  }
  return new KlinesError('unreachable', `${baseUrl} answered ${status} to ${request}${reason}.`, {
    suggestions: [...newCauses, ...ADVICE],
    data: { baseUrl, ...data },
  })
}

/** The error for a stream that broke off after `tokens` tokens. */
export function incompleteStreamError(tokens: number, reason: string, cause?: unknown): KlinesError {
  const after = tokens === 0 ? 'before the first token' : `after ${tokens} token${tokens === 1 ? '' : 's'}`
  return new KlinesError('incomplete', `The token stream is incomplete: it ended ${after}: ${reason}.`, {
    cause,
    suggestions: ['Run the command again for a complete one.'],
    data: { tokens },
  })
}
