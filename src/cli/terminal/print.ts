import { styleText } from 'node:util'
import { escapeControls } from '../../candles/text.js'
import type { Token } from '../../greeting/schemas.js'
import { wrapLines } from './text.js'

/** How a line starts that says by its words what its colour only stresses. */
const COLOURS = [
  [/^(OK|Everything is up to date|No problems found|Equal)\b/gm, 'green'],
  [/^(INCOMPLETE|NO CANDLES|Note|Incomplete)\b/gm, 'yellow'],
  [/^(FAILED|klines|Different)\b(?=: )/gm, 'red'],
] as const

export function print(lines: string): void {
  write(lines, process.stdout)
}

/** Prints tokens no faster than the reader takes them. Text ends with a line end, also when the stream fails. */
export async function printTokens(tokens: AsyncIterable<Token>, asLines: boolean, signal: AbortSignal): Promise<void> {
  const { StreamOutput } = await import('../../engine/output-stream.js')
  const output = StreamOutput.to('-', signal)
  const print = (text: string) => output.write(Buffer.from(text))
  try {
    for await (const token of tokens)
      await print(asLines ? `${JSON.stringify(token)}\n` : escapeControls(token.message))
  } finally {
    if (!asLines && output.bytes > 0) await print('\n')
  }
  await output.finish()
}

export function printJson(value: unknown): void {
  process.stdout.write(`${escapeControls(JSON.stringify(value, null, 2))}\n`)
}

export function printNote(lines: string): void {
  write(lines, process.stderr)
}

/** All text of the commands is written here: names and messages in it may come from anywhere. A terminal gets lines that fit, and colours. */
function write(lines: string, stream: NodeJS.WriteStream): void {
  const text = escapeControls(lines)
  stream.write(`${stream.isTTY ? colour(wrapLines(text, stream.columns), stream) : text}\n`)
}

function colour(text: string, stream: NodeJS.WriteStream): string {
  if (!stream.hasColors()) return text
  return COLOURS.reduce(
    (lines, [start, name]) => lines.replace(start, words => styleText(name, words, { stream })),
    text,
  )
}
