/** How much of a service's own message is shown. */
const MAX_MESSAGE = 200
/** How many entries of a cause are shown. */
const MAX_CAUSES = 10
/** An error body larger than this is not looked into. */
const MAX_BODY_BYTES = 64 * 1024

/** What an error object says, fit for a terminal. */
export interface ErrorBody {
  /** One line, no control characters, at most 200 characters. */
  readonly message: string
  /** What the cause says, a line of the same kind for each of its entries; the first ten. */
  readonly causes: string[]
}

/** What an error object (service.md, "Errors") in a body says. Undefined when the body is something else. */
export function parseErrorBody(body: Buffer): ErrorBody | undefined {
  if (body.length === 0 || body.length > MAX_BODY_BYTES) return undefined
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    if (!isObject(value) || typeof value.message !== 'string') return undefined
    return { message: cleanText(value.message, MAX_MESSAGE), causes: parseCauses(value.cause) }
  } catch {
    return undefined
  }
}

/** Its message alone. */
export function parseErrorMessage(body: Buffer): string | undefined {
  return parseErrorBody(body)?.message
}

/** Any JSON value as one clean line. */
export function cleanValue(value: unknown): string {
  return cleanText(typeof value === 'string' ? value : stringify(value), MAX_MESSAGE)
}

/** Text from outside made safe for a terminal and a log: controls (ANSI escapes included) out, one line, shortened. */
export function cleanText(text: string, most: number): string {
  const line = text
    .replace(/\p{C}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most)}...` : line
}

/** A cause may have any shape: a list has a line an entry; an entry with a message is shown by that and by its field. */
function parseCauses(cause: unknown): string[] {
  const entries = Array.isArray(cause) ? cause.slice(0, MAX_CAUSES) : cause === undefined ? [] : [cause]
  return entries.map(entry => {
    if (!isObject(entry) || typeof entry.message !== 'string') return cleanValue(entry)
    // Our server names the field, other validators its path: as text, or as a list of names.
    const { field = entry.instancePath ?? entry.path, message } = entry
    const name = Array.isArray(field) ? field.join('.') : field
    return cleanValue(typeof name === 'string' ? `${name} ${message}` : message)
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    // JSON.parse takes any depth, JSON.stringify some thousand levels.
    return 'too deep to be shown'
  }
}
