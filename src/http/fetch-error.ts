import { cleanText } from './error-body.js'

/**
 * What to do about a failed attempt:
 * - `transient`: the network or the server, worth all tries;
 * - `invalid`: an answer that makes no sense (not JSON, wrong shape, unasked status), worth two more;
 * - `permanent`: asking again would not help.
 */
export type FetchErrorKind = 'transient' | 'invalid' | 'permanent'

/** One failed attempt to get a file. `message` says what happened without saying to which file. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  /** HTTP status, when there was an answer. */
  readonly status: number | undefined
  /** How long the service asks us to wait, ms. */
  readonly retryAfterMs: number | undefined
  /** Whether the service itself did not answer in its own form: connection faults, 5xx, pages of something else. */
  readonly unreachable: boolean
  /** Whether the body was no JSON at all: a captive portal, a wrong address. */
  readonly notJson: boolean
  /** Whether it was the time that ran out. */
  readonly timedOut: boolean

  constructor(
    readonly kind: FetchErrorKind,
    message: string,
    details: {
      status?: number
      retryAfterMs?: number | undefined
      unreachable?: boolean
      notJson?: boolean
      timedOut?: boolean
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: details.cause })
    this.status = details.status
    this.retryAfterMs = details.retryAfterMs
    this.unreachable = details.unreachable ?? false
    this.notJson = details.notJson ?? false
    this.timedOut = details.timedOut ?? false
  }
}

/** Connection faults by their code, in words. */
const CONNECTION_WORDS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name service did not answer',
  ENETUNREACH: 'network unreachable',
  EHOSTUNREACH: 'host unreachable',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the body stopped coming',
  UND_ERR_SOCKET: 'connection closed by the other side',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the body is not as long as announced',
  UND_ERR_HEADERS_OVERFLOW: 'the response headers are too large',
}

/** How much is shown of what an error of Node or undici says, characters. */
const MAX_WORDS = 200

/** Faults that are nothing but slowness. */
const LATE_CODES = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])
/** Faults that stay: the host does not exist, or says what it would say again. A name service that is silent may speak yet. */
const FINAL_CODES = new Set(['ENOTFOUND', 'UND_ERR_HEADERS_OVERFLOW', 'ERR_INVALID_URL', 'UND_ERR_INVALID_ARG'])
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|EPROTO/

/** What a connection fault (anything undici or Node throws) means. */
export function toFetchError(error: unknown): FetchError {
  const root = rootCause(error)
  const code = String((root as NodeJS.ErrnoException).code ?? '')
  const words = CONNECTION_WORDS[code] ?? cleanText(describeError(root), MAX_WORDS)
  const certificate = CERTIFICATE.test(code)
  const message = `${certificate ? 'TLS: ' : ''}${words}${code && !words.includes(code) ? ` (${code})` : ''}`
  const kind = certificate || FINAL_CODES.has(code) ? 'permanent' : 'transient'
  return new FetchError(kind, message, { unreachable: true, timedOut: LATE_CODES.has(code), cause: error })
}

/** What an error says; OpenSSL's own message is lines of file names around its reason. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, reason } = error as NodeJS.ErrnoException & { reason?: unknown }
  return /^(EPROTO|ERR_SSL)/.test(code ?? '') && typeof reason === 'string' ? reason : error.message
}

/** The innermost error that has a code; an AggregateError (one try an address) stands for its first. */
function rootCause(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return rootCause(error.errors[0])
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error ? rootCause(cause) : error
}
