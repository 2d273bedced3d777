import { STATUS_CODES } from 'node:http'
import { ERROR_STATUSES, type ErrorObject } from '../../http/error-object.js'

/** Details of an error response besides its message. */
export interface HttpErrorDetails {
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
  417: 'Of Expect, this server knows 100-continue alone.',
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
