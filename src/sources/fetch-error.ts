import { cleanText } from './error-body.js'

/**
 * How a failed attempt is retried:
 * - `transient`: a fault of the network or the server; all tries;
 * - `invalid`: a response that is not JSON, has a wrong shape or an unexpected status; three tries;
 * - `permanent`: the same request would fail again; no retry.
 */
export type FetchErrorKind = 'transient' | 'invalid' | 'permanent'

/** A failed attempt to fetch a file. `message` describes the fault without naming the file. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  /** HTTP status, if the server responded. */
  readonly status: number | undefined
  /** Whether the service did not respond: a connection fault or a transient status. */
  readonly unreachable: boolean
  /** Whether the body was not JSON: a captive portal or a wrong address. */
  readonly notJson: boolean
  readonly timedOut: boolean
  /** What the service itself said about it, one line that is safe for a terminal. */
  readonly words: string | undefined
  /** How often the file was requested in all; the `Fetcher` sets it. */
  tries = 1

  constructor(
    readonly kind: FetchErrorKind,
    message: string,
    details: {
      status?: number
      unreachable?: boolean
      notJson?: boolean
      timedOut?: boolean
      words?: string | undefined
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: details.cause })
    this.status = details.status
    this.unreachable = details.unreachable ?? false
    this.notJson = details.notJson ?? false
    this.timedOut = details.timedOut ?? false
    this.words = details.words
  }
}

/** Connection faults as text, by code. */
const CONNECTION_FAULTS: Record<string, string> = {
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

const TIMEOUT_CODES = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])
/** Faults that a retry does not mend. EAI_AGAIN is not one: the name service may answer later. */
const PERMANENT_CODES = new Set(['ENOTFOUND', 'UND_ERR_HEADERS_OVERFLOW', 'ERR_INVALID_URL', 'UND_ERR_INVALID_ARG'])
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|EPROTO/

/** Converts a connection fault (anything undici or Node throws). */
export function toFetchError(error: unknown): FetchError {
  const root = rootCause(error)
  const code = String((root as NodeJS.ErrnoException).code ?? '')
  const reason = CONNECTION_FAULTS[code] ?? cleanText(describeError(root))
  const certificate = CERTIFICATE.test(code)
  const message = `${certificate ? 'TLS: ' : ''}${reason}${code && !reason.includes(code) ? ` (${code})` : ''}`
  const kind = certificate || PERMANENT_CODES.has(code) ? 'permanent' : 'transient'
  return new FetchError(kind, message, { unreachable: true, timedOut: TIMEOUT_CODES.has(code), cause: error })
}

/** The message of an error; OpenSSL puts its reason between source file names, so the reason alone is taken. */
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
