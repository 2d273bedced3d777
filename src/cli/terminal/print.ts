import { escapeControls } from '../../klines/escape.js'

/** All text of the commands is printed here: names, addresses and messages in it may come from anywhere. */

/** Prints lines of data or results to stdout. */
export function print(lines: string): void {
  process.stdout.write(`${escapeControls(lines)}\n`)
}

/** Prints an object to stdout as JSON. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** Prints lines for a person to stderr. */
export function printNote(lines: string): void {
  process.stderr.write(`${escapeControls(lines)}\n`)
}
