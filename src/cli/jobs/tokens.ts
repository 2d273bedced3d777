import { StreamOutput } from '../../export/output/stream.js'
import type { Token } from '../../greeting/schemas.js'
import { KlinesError } from '../../klines/errors.js'
import type { TokenFormat } from '../flags/greeting.js'
import { printJson } from '../terminal/print.js'

/** With `--json`, most characters of tokens that are collected. */
const MAX_CHARACTERS = 16 * 1024 * 1024

/** `streams tokens`: each token as it arrives, or with `json` all of them as one array once the stream has ended. */
export async function runTokens(
  tokens: AsyncIterable<Token>,
  { json, format = 'text' }: { json: boolean; format?: TokenFormat | undefined },
  signal: AbortSignal,
): Promise<void> {
  if (json && format === 'jsonl') {
    throw new KlinesError('bad_option', '--json prints one array, -f jsonl an object a line. Expected one of them.')
  }
  if (json) printJson(await collectTokens(tokens))
  else await printTokens(tokens, format, signal)
}

/** Prints tokens no faster than the reader takes them. Text ends with a line end, also when the stream fails. */
async function printTokens(tokens: AsyncIterable<Token>, format: TokenFormat, signal: AbortSignal): Promise<void> {
  const output = StreamOutput.toStdout(signal)
  const print = (text: string) => output.write(Buffer.from(text))
  try {
    for await (const token of tokens) {
      await print(format === 'jsonl' ? `${JSON.stringify(token)}\n` : plainText(token.message))
    }
  } finally {
    if (format === 'text' && output.bytes > 0) await print('\n')
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
