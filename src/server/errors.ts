import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'

export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, Last-Modified, Retry-After, Warning',
}

/** Of the exchange's own paths, where errors have the exchange's form. */
const EXCHANGE_PATH = /^\/f?api\/v\d\//
/** On every answer there: no limit is used. */
export const EXCHANGE_HEADERS = { 'x-mbx-used-weight-1m': '0' }

/** Of statuses whose own name says too little. */
const MESSAGES: Partial<Record<number, string>> = {
  404: 'There is nothing at this path.',
  415: 'The body must be application/json.',
  431: 'The header fields are too large.',
  500: 'Internal error.',
}

/** An error response. `headers`: fields that its status requires; `code`: the exchange's. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly headers: Readonly<Record<string, string>>
  readonly code: number

  constructor(
    readonly statusCode: number,
    message = MESSAGES[statusCode] ?? `${STATUS_CODES[statusCode]}.`,
    options: { cause?: unknown; headers?: Readonly<Record<string, string>>; code?: number } = {},
  ) {
    super(message, options)
    this.headers = options.headers ?? {}
    // An operation that is not supported, or a failure that passes.
    this.code = options.code ?? (statusCode < 500 ? -1020 : -1001)
  }
}

/** Converts what a handler or Fastify throws: it names the status of a request that it refuses; anything else is 500. */
export function toHttpError(error: Error & { statusCode?: number; code?: string }): HttpError {
  if (error instanceof HttpError) return error
  const { statusCode = 500, code = '', message } = error
  if (/^FST_ERR_CTP_(EMPTY|INVALID)_JSON_BODY$/.test(code)) return new HttpError(400, message)
  return new HttpError(statusCode >= 400 && statusCode < 500 ? statusCode : 500)
}

/**
 * Sends an error response. `isPublic`: pages of other sites may read it; `isLast`: the connection ends, because what follows on it cannot
 * be read.
 */
export function sendError(
  error: HttpError,
  { method, url }: IncomingMessage,
  response: ServerResponse,
  { isPublic = false, isLast = false } = {},
): void {
  const { body, headers } = errorAnswer(error, isLast, url)
  const cors = isPublic && (method === 'GET' || method === 'HEAD') && CORS_HEADERS
  response.writeHead(error.statusCode, { ...headers, ...cors }).end(body)
}

export function errorBytes(error: HttpError): string {
  const { body, headers } = errorAnswer(error, true)
  const fields = Object.entries({ ...headers, date: new Date().toUTCString() }).map(field => field.join(': '))
  return [`HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode]}`, ...fields, '', body].join('\r\n')
}

function errorAnswer({ statusCode, message, cause, headers, code }: HttpError, isLast: boolean, url = '') {
  const isExchange = EXCHANGE_PATH.test(url)
  const body = JSON.stringify(isExchange ? { code, msg: message } : { statusCode, message, isError: true, cause })
  const fields: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...(isExchange && EXCHANGE_HEADERS),
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    ...(isLast && { connection: 'close' }),
  }
  return { body, headers: fields }
}

/** A text for a quoted string of a header field, which cannot carry all characters. */
export function quotable(text: string): string {
  return text.replace(/[^ -~]|["\\]/g, "'")
}
