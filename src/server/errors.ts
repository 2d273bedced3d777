import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import Type from 'typebox'

/** Header fields of a response that pages of other sites may read, and what they may see of it besides the common fields. */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Last-Modified, Content-Range',
}

/** Messages by status; other statuses use their standard reason phrase. */
const MESSAGES: Partial<Record<number, string>> = {
  400: 'The request is not valid HTTP.',
  404: 'There is nothing at this path.',
  408: 'The request did not come in time.',
  413: 'The body is too large.',
  414: 'The address is too long.',
  415: 'The body must be application/json.',
  417: 'Expect may only be 100-continue.',
  431: 'The header fields are too large.',
  500: 'Internal error.',
  505: 'This server speaks HTTP/1.1 and HTTP/1.0.',
}

/** An error response: its status, the message and cause of its error object, and header fields that the status requires. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly headers: Readonly<Record<string, string>>

  constructor(
    readonly statusCode: number,
    message = MESSAGES[statusCode] ?? `${STATUS_CODES[statusCode] ?? 'Failed'}.`,
    { cause, headers = {} }: { cause?: unknown; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.headers = headers
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
  { method }: IncomingMessage,
  response: ServerResponse,
  { isPublic = false, isLast = false } = {},
): void {
  const { body, headers } = errorAnswer(error, isLast)
  const cors = isPublic && (method === 'GET' || method === 'HEAD') && CORS_HEADERS
  response.writeHead(error.statusCode, { ...headers, ...cors }).end(body)
}

/** The response to what has no request that could be answered, as bytes. */
export function errorBytes(error: HttpError): string {
  const { body, headers } = errorAnswer(error, true)
  const fields = Object.entries({ ...headers, date: new Date().toUTCString() }).map(field => field.join(': '))
  return [`HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode]}`, ...fields, '', body].join('\r\n')
}

/** The JSON body is the error object of the service's OpenAPI description. */
function errorAnswer({ statusCode, message, cause, headers }: HttpError, isLast: boolean) {
  const body = JSON.stringify({ statusCode, message, isError: true, ...(cause !== undefined && { cause }) })
  const fields: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    ...(isLast && { connection: 'close' }),
  }
  return { body, headers: fields }
}

/** The statuses of an error object, as the service's OpenAPI description lists them. */
const ERROR_STATUSES = [
  100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404,
  405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 424, 428, 429, 500, 501, 502, 503,
  504, 505,
] as const

/** The body of every error response, as in the service's OpenAPI description. */
export const ErrorObjectSchema = Type.Object(
  {
    statusCode: Type.Enum([...ERROR_STATUSES], { type: 'integer', description: 'HTTP status code' }),
    message: Type.String({ description: 'Error message' }),
    isError: Type.Literal(true, { description: 'Always true' }),
    cause: Type.Optional(Type.Unknown({ description: 'Error cause of any shape' })),
  },
  { $id: 'ErrorObject', additionalProperties: false, description: 'What every failed request is answered with' },
)
