import { parseObject } from '../candles/json.js'
import { toStatusError } from './answer.js'
import { cleanText } from './error-body.js'
import { FetchError } from './fetch-error.js'
import { isTransientStatus } from './retry.js'
import type { WholeResponse } from './transport.js'

/** Codes of the exchange: https://github.com/binance/binance-spot-api-docs, errors.md. */
const INVALID_SYMBOL = -1121
/** An unknown error, a disconnect, a timeout, an overload: all of the exchange's own. */
const TRANSIENT_CODES = new Set([-1000, -1001, -1007, -1008])

const MAX_MESSAGE_LENGTH = 200
/** A larger body is no error object. */
const MAX_BODY_BYTES = 64 * 1024

/** The body of an error: `{"code":-1121,"msg":"Invalid symbol."}`. */
export interface ExchangeFault {
  readonly code: number
  /** One line, safe for a terminal; empty for a message that is no text. */
  readonly message: string
}

/** Parses the body of an error; undefined for any other body. */
export function parseFault(body: Buffer): ExchangeFault | undefined {
  if (body.length > MAX_BODY_BYTES || body[0] !== 0x7b) return undefined
  const { code, msg } = parseObject(body.toString('utf8')) ?? {}
  if (typeof code !== 'number' || !Number.isSafeInteger(code)) return undefined
  return { code, message: typeof msg === 'string' ? cleanText(msg, MAX_MESSAGE_LENGTH) : '' }
}

/** A symbol that the exchange does not know. */
export class InvalidSymbolError extends FetchError {}

/** The error of an answer that is not what was requested; undefined for one with status 200 that is no error object. */
export function findError(response: WholeResponse): FetchError | undefined {
  const { status, body } = response
  const fault = parseFault(body)
  if (fault === undefined) return status === 200 ? undefined : toStatusError(response)
  const message = `status ${status}${fault.message && `: ${fault.message}`} (code ${fault.code})`
  if (status === 200) return new FetchError('invalid', message, { status })
  if (fault.code === INVALID_SYMBOL) {
    return new InvalidSymbolError('permanent', `the exchange does not know this symbol, leave it out (${message})`, {
      status,
    })
  }
  const isTransient = isTransientStatus(status) || TRANSIENT_CODES.has(fault.code)
  return new FetchError(isTransient ? 'transient' : 'permanent', message, { status, unreachable: isTransient })
}
