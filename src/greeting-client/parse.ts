import { cleanValue } from '../http/error-body.js'
import { FetchError } from '../http/fetch-error.js'
import { isObject } from '../klines/json.js'
import { parseJson } from './json-lines.js'
import type { Token, UserUpdateResult } from './schema.js'

/** An OpenAPI description: an object whose `openapi` names the version of the format. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly [key: string]: unknown
}

/** Checks the result of a user update. Throws an `invalid` error for anything else. */
export function parseUserUpdateResult(value: unknown): UserUpdateResult {
  const { success, id, notify } = expectObject(value)
  if (typeof success === 'boolean' && typeof id === 'string' && typeof notify === 'string') {
    return value as UserUpdateResult
  }
  throw new FetchError('invalid', 'it lacks success, id or notify')
}

/** Checks an OpenAPI description. Throws an `invalid` error for anything else. */
export function parseOpenApi(value: unknown): OpenApiDocument {
  if (typeof expectObject(value).openapi === 'string') return value as OpenApiDocument
  throw new FetchError('invalid', 'it is no OpenAPI description')
}

/** A line of the token stream: a token, or the reason why the server ended the stream. */
export type TokenLine = { readonly token: Token } | { readonly reason: string }

/** Parses a line of the token stream. Throws an `invalid` error for anything that is neither. */
export function parseTokenLine(line: string): TokenLine {
  const value = expectObject(parseJson(line))
  if (value.isError === true) return { reason: cleanValue(value.reason ?? value.message ?? 'no reason given') }
  if (typeof value.message === 'string') return { token: value as Token }
  throw new FetchError('invalid', 'it is no token, which has a message that is text')
}

function expectObject(value: unknown): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value
  throw new FetchError('invalid', 'it is no JSON object')
}
