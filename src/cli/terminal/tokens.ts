import { KlinesError } from '../../candles/errors.js'
import { StreamOutput } from '../../engine/output/stream.js'
import type { Token } from '../../greeting/schemas.js'

/** Most characters of tokens that are collected. */
const MAX_CHARACTERS = 16 * 1024 * 1024

/** Prints tokens no faster than the reader takes them. Text ends with a line end, also when the stream fails. */
export async function printTokens(tokens: AsyncIterable<Token>, asLines: boolean, signal: AbortSignal): Promise<void> {
  const output = StreamOutput.toStdout(signal)
  const print = (text: string) => output.write(Buffer.from(text))
  try {
    for await (const token of tokens) await print(asLines ? `${JSON.stringify(token)}\n` : plainText(token.message))
  } finally {
    if (!asLines && output.bytes > 0) await print('\n')
  }
  await output.finish()
}

/** All tokens of a stream. Throws `incomplete` beyond `most` characters: an endless stream would take all memory. */
export async function collectTokens(tokens: AsyncIterable<Token>, most = MAX_CHARACTERS): Promise<Token[]> {
  const all: Token[] = []
  let characters = 0
  for await (const token of tokens) {
    characters += JSON.stringify(token).length
    if (characters > most) {
      const message = `The token stream has more than ${most} characters, too many for one array.`
      throw new KlinesError('incomplete', message, {
        suggestions: ['-f jsonl prints tokens as they come, however many.'],
      })
    }
    all.push(token)
  }
  return all
}

/** Untrusted text without the control characters (escape sequences included) that could steer a terminal. */
function plainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes them; line feed and tab stay
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
}
