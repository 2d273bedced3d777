import { KlinesError } from '../candles/errors.js'
import { parseErrorBody } from './error-body.js'
import { FetchError } from './fetch-error.js'
import { isTransientStatus } from './retry.js'
import type { AnswerTimes } from './source.js'
import type { WholeResponse } from './transport.js'

/** Parses a body; what the parser throws on purpose makes the answer invalid. Throws `FetchError`. */
export function parseBody<T>({ body }: WholeResponse, parse: (bytes: Buffer) => T): T {
  try {
    return parse(body)
  } catch (error) {
    if (!(error instanceof KlinesError)) throw error
    throw new FetchError('invalid', error.message, { notJson: error.data.kind === 'not_json', cause: error })
  }
}

/**
 * The times of an answer, none later than this machine's present (`now`, ms UTC): one in the future could make a window count as final
 * before its end.
 */
export function parseTimes({ headers }: WholeResponse, now: number): AnswerTimes {
  const [modified, date] = [headers['last-modified'], headers.date].map(text => Date.parse(text ?? ''))
  const asked = Number.isNaN(date) ? now : Math.min(date, now)
  if (!Number.isNaN(modified)) return { rendered: Math.min(modified, asked), asked }
  return { rendered: Number.isNaN(date) ? undefined : asked, asked }
}

/** How far the clock of a service is ahead of this machine's, ms; negative when it is behind, 0 when the answer does not say. */
export function clockSkew({ headers }: WholeResponse, now: number): number {
  const date = Date.parse(headers.date ?? '')
  // RFC 9111, 5.1: a cache on the way has had the answer for so many seconds.
  const age = /^\d+$/.test(headers.age ?? '') ? Number(headers.age) : 0
  return Number.isNaN(date) ? 0 : date + 1000 * age - now
}

/** The error of an answer whose status is not the expected one. */
export function toStatusError({ status, body }: WholeResponse): FetchError {
  const words = parseErrorBody(body)?.message
  const message = `status ${status}${words ? `: ${words}` : ''}`
  const details = { status, words }
  if (isTransientStatus(status)) return new FetchError('transient', message, { ...details, unreachable: true })
  // The request had no range, and no other 1xx to 3xx fits it either.
  if (status < 400 || status === 416) return new FetchError('invalid', `${message}, which was not requested`, details)
  return new FetchError('permanent', message, details)
}
