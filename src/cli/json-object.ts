import { decodeUtf8, isObject } from '../klines/json.js'
import { cleanText } from '../sources/error-body.js'

/** A JSON object, or what is wrong with the bytes: `is not JSON: ... at line 3, column 5`. */
export type JsonObject =
  | { readonly object: Readonly<Record<string, unknown>> }
  | { readonly problem: string; readonly cause?: unknown }

/** Parses a JSON object; a byte order mark is accepted. */
export function parseJsonObject(bytes: Uint8Array): JsonObject {
  const text = decode(bytes)
  if (text === undefined) return { problem: 'is not UTF-8' }
  if (text.trim() === '') return { problem: 'is empty' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    return { problem: `is not JSON: ${jsonFault(text, (cause as Error).message)}`, cause }
  }
  if (isObject(value)) return { object: value }
  return { problem: `is ${value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`}` }
}

/** The text without a byte order mark; undefined when the bytes are not UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return decodeUtf8(bytes)
  } catch {
    return undefined
  }
}

/** The message of JSON.parse with line and column (from 1) instead of its position or its excerpt: `Unexpected "data" at ...`. */
function jsonFault(text: string, message: string): string {
  const fault = message.replace(/(?: in JSON)? at position .*$|, (?:\.{3})?".*is not valid JSON$/s, '')
  const position = faultPosition(text)
  // A word without quotes is shown whole: the fault of `nope` is its o, because null begins with n.
  const [start] = /[\w$.+-]*$/.exec(text.slice(0, position)) ?? ['']
  const [end] = /^[\w$.+-]*/.exec(text.slice(position)) ?? ['']
  const isWord = fault.startsWith('Unexpected token') && end !== ''
  const lines = text.slice(0, isWord ? position - start.length : position).split('\n')
  const shown = isWord ? `Unexpected "${start}${end}"` : fault
  return `${cleanText(shown, 160)} at line ${lines.length}, column ${lines[lines.length - 1].length + 1}`
}

/** Where the first fault is. Not every message of JSON.parse names it, so the longest prefix is searched that only lacks its end. */
function faultPosition(text: string): number {
  let [good, bad] = [0, text.length + 1]
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (lacksOnlyItsEnd(text.slice(0, middle))) good = middle
    else bad = middle
  }
  return good
}

function lacksOnlyItsEnd(prefix: string): boolean {
  try {
    JSON.parse(prefix)
    return true
  } catch (error) {
    const { message } = error as Error
    const [, position] = / at position (\d+)/.exec(message) ?? []
    return position === undefined
      ? message.startsWith('Unexpected end')
      : Number(position) >= prefix.length || message.startsWith('Unterminated string')
  }
}
