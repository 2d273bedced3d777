import { cleanText, parseErrorBody } from '../http/error-body.js'
import type { FetchError } from '../http/fetch-error.js'
import type { WholeResponse } from '../http/response.js'
import { parseRetryAfter } from '../http/retry.js'
import { KlinesError } from '../klines/errors.js'

/** Every error of the greeting service, said in one place. */

const ADVICE = [
  'Start one with klines serve, or name an address with --base-url; --base-url sample runs one for a single command.',
]

/** What was asked for, as a sentence names it. */
export type Asked = 'the update' | 'the token stream' | 'the OpenAPI description'

/** Nothing that answers. */
export function cannotReach(baseUrl: string, failure: FetchError): KlinesError {
  return new KlinesError('unreachable', `The greeting service at ${baseUrl} cannot be reached: ${failure.message}.`, {
    cause: failure,
    suggestions: ADVICE,
    data: { baseUrl },
  })
}

/** Something that answers, and not as the greeting service does. */
export function notTheService(
  baseUrl: string,
  asked: Asked,
  failure: FetchError,
  type: string | undefined,
): KlinesError {
  const kind = type ? ` (${cleanText(type, 60)})` : ''
  const message = `What answers at ${baseUrl} is not the greeting service: asked for ${asked}, it sent something else${kind}: ${failure.message}.`
  return new KlinesError('unreachable', message, { cause: failure, suggestions: ADVICE, data: { baseUrl } })
}

/** An answer that is not a success, `now` in ms UTC: the server's own words, and what follows for the asker. */
export function refused(
  baseUrl: string,
  asked: Asked,
  { status, headers, body }: WholeResponse,
  now: number,
): KlinesError {
  const waitMs = status === 429 || status === 503 ? parseRetryAfter(headers['retry-after'], now) : undefined
  if (waitMs !== undefined) {
    const until = new Date(now + waitMs).toISOString().replace(/\.\d+Z$/, 'Z')
    return new KlinesError('rate_limited', `${baseUrl} answered ${status} and asks to stay away until ${until}.`, {
      suggestions: ['Run the same command again after that.'],
      data: { status, until },
    })
  }
  const words = parseErrorBody(body)
  const said = words?.message ? `: ${words.message.replace(/\.$/, '')}` : ''
  const causes = words?.causes ?? []
  const data = { status, ...(causes.length > 0 && { cause: causes }) }
  const unsaid = causes.filter(cause => !words?.message.includes(cause))
  if (status === 429) {
    const suggestions = [...unsaid, 'Try again later, and less often.']
    return new KlinesError('rate_limited', `${baseUrl} is asked too often (429)${said}.`, { suggestions, data })
  }
  if (status >= 400 && status < 500 && status !== 408) {
    // Without the error object it is hardly a greeting service that refuses.
    const suggestions = words
      ? unsaid
      : ['That is not how a greeting service refuses: is --base-url the right address?']
    return new KlinesError('rejected', `The server refused ${asked} (${status})${said}.`, { suggestions, data })
  }
  return new KlinesError('unreachable', `${baseUrl} answered ${status} when asked for ${asked}${said}.`, {
    suggestions: [...unsaid, ...ADVICE],
    data: { baseUrl, ...data },
  })
}

/** A stream that ended before its end, after `tokens` whole ones. */
export function brokenStream(tokens: number, why: string, cause?: unknown): KlinesError {
  const after = tokens === 0 ? 'before the first token' : `after ${tokens} token${tokens === 1 ? '' : 's'}`
  return new KlinesError('incomplete', `The token stream is not whole, it broke off ${after}: ${why}.`, {
    cause,
    suggestions: ['Ask again for a whole one.'],
    data: { tokens },
  })
}
