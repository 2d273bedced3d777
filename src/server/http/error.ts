import { STATUS_CODES } from 'node:http'
import { ERROR_STATUSES, type ErrorObject } from '../../http/error-object.js'

/** What is said beside the message of an error answer. */
export interface HttpErrorDetails {
  /** Goes into the error object. */
  readonly cause?: unknown
  /** Header fields that the status asks for, such as Allow. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Statuses we answer: those of service.md, and 431 (RFC 6585, 5), which its list does not have and nothing else says: header
 * fields that are too large.
 */
type Status = ErrorObject['statusCode'] | 431

/** A request that is refused: the status and what the error object says. */
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

/** The error object of a refusal (service.md, "Errors"). */
export function errorObject({
  statusCode,
  message,
  cause,
}: HttpError): Omit<ErrorObject, 'statusCode'> & { statusCode: Status } {
  return { statusCode, message, isError: true, ...(cause !== undefined && { cause }) }
}

/** Statuses with words of ours; the others have the words of their RFC. */
const MESSAGES: Partial<Record<number, string>> = {
  400: 'The request is not sound HTTP.',
  408: 'The request did not come in time.',
  413: 'The body is too large.',
  414: 'The address is too long.',
  415: 'The body must be application/json.',
  417: 'Of Expect, this server knows 100-continue alone.',
  431: 'The header fields are too large.',
  500: 'Internal error.',
  505: 'This server speaks HTTP/1.1 and HTTP/1.0.',
}

/** A refusal that needs no words of its own. A status that nobody knows becomes 400 or 500. */
export function plainError(status: number, details?: HttpErrorDetails): HttpError {
  const known = status === 431 ? status : ERROR_STATUSES.find(code => code === status)
  const statusCode = known ?? (status >= 400 && status < 500 ? 400 : 500)
  return new HttpError(statusCode, MESSAGES[status] ?? `${STATUS_CODES[status] ?? 'Failed'}.`, details)
}

/** Header fields of every error answer. */
export function errorHeaders(error: HttpError): Record<string, string> {
  return { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...error.headers }
}
