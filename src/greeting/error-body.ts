import { isObject, parseObject } from '../candles/json.js'
import { cleanText } from '../sources/fetch-error.js'

/** The message and the causes of an error object of a service, each a line that is safe for a terminal; undefined for any other body. */
export function parseErrorBody(body: Buffer): { readonly message: string; readonly causes: string[] } | undefined {
  const { message, cause } = parseObject(body.toString('utf8')) ?? {}
  return typeof message === 'string' ? { message: cleanText(message), causes: parseCauses(cause) } : undefined
}

/** A JSON value as one line that is safe for a terminal. */
export function cleanValue(value: unknown): string {
  return cleanText(typeof value === 'string' ? value : JSON.stringify(value))
}

/** A line for each of the first ten causes, which may have any shape: of an object its field and message. */
function parseCauses(cause: unknown): string[] {
  const entries = Array.isArray(cause) ? cause.slice(0, 10) : cause === undefined ? [] : [cause]
  return entries.map(entry => {
    if (!isObject(entry) || typeof entry.message !== 'string') return cleanValue(entry)
    // Our server names the field; other validators give a path, as text or as a list of names.
    const { field = entry.instancePath ?? entry.path, message } = entry
    const name = Array.isArray(field) ? field.join('.') : field
    return cleanValue(typeof name === 'string' ? `${name} ${message}` : message)
  })
}
