import { parseObject } from '../candles/json.js'
import type { HttpProxy } from './proxy.js'
import { type FetchErrorKind, isTransientStatus } from './retry.js'

/** A failed attempt to fetch a file. `message` describes the fault without naming the file. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  /** HTTP status, if the server responded. */
  readonly status?: number
  /** A connection fault or a transient status. */
  readonly unreachable: boolean = false
  /** The body was not JSON: a captive portal or a wrong address. */
  readonly notJson: boolean = false
  readonly timedOut: boolean = false
  /** What the service itself said, one line that is safe for a terminal. */
  readonly words?: string | undefined
  /** What helps, in place of the usual advice. */
  readonly advice?: string | undefined
  /** The base address that a redirect leads to. */
  readonly movedTo?: string | undefined
  /** How often the file was requested in all; the `Fetcher` sets it. */
  tries = 1

  constructor(
    readonly kind: FetchErrorKind,
    message: string,
    details: Partial<Omit<FetchError, 'name' | 'message' | 'stack' | 'kind' | 'tries'>> = {},
  ) {
    super(message, details)
    Object.assign(this, details)
  }
}

const CONNECTION_FAULTS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name service did not answer',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the body stopped coming',
  UND_ERR_SOCKET: 'connection closed by the other side',
  UND_ERR_HEADERS_OVERFLOW: 'the response headers are too large',
}

const TIMEOUT = /TIMEDOUT|_TIMEOUT$/
/** EAI_AGAIN is not one: the name service may answer later. */
const PERMANENT_CODES = new Set(['ENOTFOUND', 'UND_ERR_HEADERS_OVERFLOW'])
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|EPROTO/

/** A certificate that nobody vouches for, as a company's own one. */
const UNKNOWN_ISSUER = /SELF_SIGNED|UNABLE_TO/
/** Behind the status of a proxy. */
const LOGIN = ', it wants a valid user name and password, as in http://user:password@host:port'
const TRUST = 'NODE_EXTRA_CA_CERTS=FILE.pem makes klines trust the certificates of a company; or check --base-url.'

/** Converts what undici or Node throws before an answer, of a `proxy` too. */
export function toFetchError(error: unknown, proxy?: HttpProxy): FetchError {
  const root = rootCause(error)
  const code = String((root as NodeJS.ErrnoException).code ?? '')
  const [, answered] = /^Proxy response \((\d+)\)/.exec(describeError(root)) ?? []
  const certificate = CERTIFICATE.test(code)
  const reason = `${certificate ? 'TLS: ' : ''}${CONNECTION_FAULTS[code] ?? cleanText(describeError(root))}`
  const fault = code && !reason.includes(code) ? `${reason} (${code})` : reason
  const shown = answered ? `status ${answered}${answered === '407' ? LOGIN : ''}` : fault
  const message = proxy ? `the proxy ${proxy.uri} of ${proxy.variable}: ${shown}` : shown
  const isPermanent = answered ? !isTransientStatus(Number(answered)) : certificate || PERMANENT_CODES.has(code)
  const advice = proxy && `Check ${proxy.variable} and --base-url; NO_PROXY names the hosts that need no proxy.`
  return new FetchError(isPermanent ? 'permanent' : 'transient', message, {
    unreachable: true,
    timedOut: TIMEOUT.test(code),
    advice: UNKNOWN_ISSUER.test(code) ? TRUST : advice,
    cause: error,
  })
}

/** OpenSSL puts its reason between names of source files. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, reason } = error as NodeJS.ErrnoException & { reason?: unknown }
  return /^(EPROTO|ERR_SSL)/.test(code ?? '') && typeof reason === 'string' ? reason : error.message
}

/** The innermost error; of an AggregateError (one error for each address tried), the first. */
function rootCause(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return rootCause(error.errors[0])
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error ? rootCause(cause) : error
}

/** The error of an answer whose status is not the expected one. */
export function toStatusError({ status, body }: { readonly status: number; readonly body: Buffer }): FetchError {
  const { message: said } = parseObject(body.toString('utf8')) ?? {}
  const words = typeof said === 'string' ? cleanText(said) : undefined
  const message = `status ${status}${words ? `: ${words}` : ''}`
  const details = { status, words }
  if (isTransientStatus(status)) return new FetchError('transient', message, { ...details, unreachable: true })
  if (status < 400 || status === 416) return new FetchError('invalid', `${message}, which was not requested`, details)
  return new FetchError('permanent', message, details)
}

/** Makes foreign text safe for a terminal and a log: one line without control characters, shortened. */
export function cleanText(text: string, maxLength = 200): string {
  const line = text.replace(/[\p{C}\s]+/gu, ' ').trim()
  return line.length > maxLength ? `${line.slice(0, maxLength)}...` : line
}
