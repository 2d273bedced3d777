import { cleanValue } from '../http/error-body.js'
import { FetchError } from '../http/fetch-error.js'
import { isObject } from '../klines/json.js'
import type { Token, UserUpdateResult } from './schema.js'

/** The longest line accepted, bytes. */
export const MAX_LINE_BYTES = 1024 * 1024

const LINE_FEED = 0x0a

/**
 * Yields the lines of a UTF-8 body as soon as they are complete, trimmed, without blank lines; the last one needs no line
 * end. Throws an `invalid` error for a line that is longer than 1 MiB or not UTF-8, after the lines before it.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  // Lines are split before decoding: in UTF-8 a line feed byte is never part of another character.
  const parts: Buffer[] = []
  let size = 0
  const add = (part: Buffer) => {
    size += part.length
    if (size > MAX_LINE_BYTES) throw new FetchError('invalid', `a line is longer than ${MAX_LINE_BYTES} bytes`)
    parts.push(part)
  }
  const takeLine = () => {
    const line = decodeUtf8(Buffer.concat(parts, size)).trim()
    parts.length = 0
    size = 0
    return line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      add(chunk.subarray(start, end))
      const line = takeLine()
      if (line !== '') yield line
      start = end + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
  }
  const last = takeLine()
  if (last !== '') yield last
}

/** Decodes UTF-8 and removes a BOM. Throws an `invalid` error when the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new FetchError('invalid', 'it is not UTF-8', { cause })
  }
}

/** Parses JSON. Throws an `invalid` error when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new FetchError('invalid', 'it is not JSON', { cause, notJson: true })
  }
}

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
type TokenLine = { readonly token: Token } | { readonly reason: string }

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
