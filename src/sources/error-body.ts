import { isObject } from '../candles/json.js'

/** The longest message shown, characters. */
const MAX_MESSAGE_LENGTH = 200
/** The most entries of a cause shown. */
const MAX_CAUSES = 10
/** A larger body is not parsed. */
const MAX_BODY_BYTES = 64 * 1024

/** The text of an error object, safe for a terminal. */
export interface ErrorBody {
  /** One line, no control characters, at most 200 characters. */
  readonly message: string
  /** One such line for each entry of the cause, at most ten. */
  readonly causes: string[]
}

/** Parses an error object (`ErrorObject` in the service's OpenAPI description); undefined for any other body. */
export function parseErrorBody(body: Buffer): ErrorBody | undefined {
  if (body.length === 0 || body.length > MAX_BODY_BYTES) return undefined
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    if (!isObject(value) || typeof value.message !== 'string') return undefined
    return { message: cleanText(value.message), causes: parseCauses(value.cause) }
  } catch {
    return undefined
  }
}

/** A JSON value as one line that is safe for a terminal. */
export function cleanValue(value: unknown, maxLength?: number): string {
  return cleanText(typeof value === 'string' ? value : stringify(value), maxLength)
}

/** Makes foreign text safe for a terminal and a log: one line, no control characters or ANSI escapes, shortened. */
export function cleanText(text: string, maxLength = MAX_MESSAGE_LENGTH): string {
  const line = text
    .replace(/\p{C}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > maxLength ? `${line.slice(0, maxLength)}...` : line
}

/** A cause may have any shape: each entry of a list becomes a line, an object with a message its field and message. */
function parseCauses(cause: unknown): string[] {
  const entries = Array.isArray(cause) ? cause.slice(0, MAX_CAUSES) : cause === undefined ? [] : [cause]
  return entries.map(entry => {
    if (!isObject(entry) || typeof entry.message !== 'string') return cleanValue(entry)
    // Our server names the field; other validators give a path, as text or as a list of names.
    const { field = entry.instancePath ?? entry.path, message } = entry
    const name = Array.isArray(field) ? field.join('.') : field
    return cleanValue(typeof name === 'string' ? `${name} ${message}` : message)
  })
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    // JSON.parse accepts any depth, JSON.stringify only some thousand levels.
    return 'too deep to be shown'
  }
}
