import { KlinesError } from '../klines/errors.js'
import { parseErrorBody } from './error-body.js'
import { FetchError } from './fetch-error.js'
import { isTransientStatus } from './retry.js'
import type { WholeResponse } from './transport/transport.js'

/** When a response was made, by whose clock. */
export interface ResponseTimes {
  /** The earliest of Last-Modified, `servedMs` and this machine's clock, ms UTC. */
  readonly mtimeMs: number
  /** The Date of the response, or now if that is missing, ms UTC. */
  readonly servedMs: number
  /** How far the service's clock is ahead of this machine's, ms; negative when it is behind. */
  readonly skewMs: number
}

/** A file of a service: its parsed value, its decoded bytes and its times. */
export interface Fetched<T> extends ResponseTimes {
  readonly value: T
  readonly bytes: Buffer
}

/** Parses a body; what the parser throws on purpose makes the response invalid. Throws `FetchError`. */
export function parseBody<T>({ body }: WholeResponse, parse: (bytes: Buffer) => T): T {
  try {
    return parse(body)
  } catch (error) {
    if (!(error instanceof KlinesError)) throw error
    throw new FetchError('invalid', error.message, { notJson: error.data.kind === 'not_json', cause: error })
  }
}

/** The times of a response. `now`: this machine's clock, ms UTC. */
export function parseTimes({ headers }: WholeResponse, now: number): ResponseTimes {
  const [modified, date] = [headers['last-modified'], headers.date].map(text => Date.parse(text ?? ''))
  const servedMs = Number.isNaN(date) ? now : date
  // RFC 9111, 5.1: a cache on the way has had the response for so many seconds.
  const age = /^\d+$/.test(headers.age ?? '') ? Number(headers.age) : 0
  // A time in the future could make a window count as final before its end.
  const mtimeMs = Math.min(Number.isNaN(modified) ? servedMs : modified, servedMs, now)
  return { servedMs, mtimeMs, skewMs: servedMs + 1000 * age - now }
}

/** The error of a response whose status is not the expected one. */
export function toStatusError({ status, body }: WholeResponse): FetchError {
  const text = parseErrorBody(body)?.message
  const message = `status ${status}${text ? `: ${text}` : ''}`
  if (isTransientStatus(status)) return new FetchError('transient', message, { status, unreachable: true })
  // The request had no range, and no other 1xx to 3xx fits it either.
  if (status < 400 || status === 416)
    return new FetchError('invalid', `${message}, which was not requested`, { status })
  return new FetchError('permanent', message, { status })
}
