/** How much of a service's own message is shown. */
const MAX_MESSAGE = 200
/** An error body larger than this is not looked into. */
const MAX_BODY_BYTES = 64 * 1024

/**
 * The message of an error object (service.md, "Errors") in a body, fit for a terminal: one line, no control characters,
 * at most 200 characters. Undefined when the body is something else.
 */
export function errorMessageOf(body: Buffer): string | undefined {
  if (body.length === 0 || body.length > MAX_BODY_BYTES) return undefined
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    const message = typeof value === 'object' && value !== null && 'message' in value ? value.message : undefined
    return typeof message === 'string' ? cleanText(message, MAX_MESSAGE) : undefined
  } catch {
    return undefined
  }
}

/** Text from outside made safe for a terminal and a log: controls (ANSI escapes included) out, one line, shortened. */
export function cleanText(text: string, most: number): string {
  const line = text
    .replace(/\p{C}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most)}...` : line
}
