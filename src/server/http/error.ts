import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import Type from 'typebox'

/**
 * Header fields of a response that pages of other sites may read (the Fetch standard's CORS protocol), and the fields of it
 * that they may see besides the common ones.
 */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Last-Modified, Content-Range',
}

/** Header fields of the response to a preflight: pages of other sites may read the public data, but not send POST. */
export const PREFLIGHT_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
}

/**
 * Whether a page of another site made a browser send this request (Fetch Metadata, `Sec-Fetch-Site`), also by a link. Such a request
 * must not make this server send requests of its own.
 *
 * `same-site` is no other site: ports do not count, so that it is what pages of other programs on this machine get, such as a
 * notebook at localhost:8888. They could send any request without a browser, too. A page of the internet is always `cross-site`.
 * Programs other than browsers send no such field.
 */
export function isFromOtherSite({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-site'] === 'cross-site'
}

/** Details of an error response besides its message. */
interface HttpErrorDetails {
  /** Part of the error object. */
  readonly cause?: unknown
  /** Header fields that the status requires, such as Allow. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The statuses of the service's error object, and 431 (RFC 6585, 5), which its list lacks: header fields too large. */
type Status = ErrorObject['statusCode'] | 431

/** An error response: its status, and the message and cause of its error object. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly headers: Readonly<Record<string, string>>

  constructor(
    readonly statusCode: Status,
    message: string,
    { cause, headers = {} }: HttpErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.headers = headers
  }
}

/** The JSON body of an error response: the error object of the service's OpenAPI description. */
export function errorObject({ statusCode, message, cause }: HttpError) {
  return { statusCode, message, isError: true, ...(cause !== undefined && { cause }) }
}

/** Messages by status; other statuses use their standard reason phrase. */
const MESSAGES: Partial<Record<number, string>> = {
  400: 'The request is not valid HTTP.',
  408: 'The request did not come in time.',
  413: 'The body is too large.',
  414: 'The address is too long.',
  415: 'The body must be application/json.',
  417: 'Expect may only be 100-continue.',
  431: 'The header fields are too large.',
  500: 'Internal error.',
  505: 'This server speaks HTTP/1.1 and HTTP/1.0.',
}

/** An error with the default message of its status. A status that the error object does not allow becomes 400 or 500. */
export function plainError(status: number, details?: HttpErrorDetails): HttpError {
  const known = status === 431 ? status : ERROR_STATUSES.find(code => code === status)
  const statusCode = known ?? (status >= 400 && status < 500 ? 400 : 500)
  return new HttpError(statusCode, MESSAGES[status] ?? `${STATUS_CODES[status] ?? 'Failed'}.`, details)
}

/** Header fields of every error response. */
export function errorHeaders(error: HttpError): Record<string, string> {
  return { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...error.headers }
}

/** Converts any error: returns an `HttpError` unchanged, others as 500. */
export function toHttpError(error: Error): HttpError {
  return error instanceof HttpError ? error : plainError(500)
}

/** Sends the error object. `isPrivate`: whether pages of other sites may not read it. */
export function sendError(
  error: HttpError,
  { method }: IncomingMessage,
  response: ServerResponse,
  isPrivate = false,
): void {
  const body = JSON.stringify(errorObject(error))
  const headers = {
    ...errorHeaders(error),
    ...(!isPrivate && (method === 'GET' || method === 'HEAD') && CORS_HEADERS),
    'content-length': String(Buffer.byteLength(body)),
  }
  response.writeHead(error.statusCode, headers).end(body)
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
  {
    $id: 'ErrorObject',
    additionalProperties: false,
    description: 'What every failed request is answered with',
    examples: [{ statusCode: 400, message: 'What is wrong, in words.', isError: true }],
  },
)

type ErrorObject = Type.Static<typeof ErrorObjectSchema>
