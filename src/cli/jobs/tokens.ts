import { StreamOutput } from '../../export/output/stream.js'
import type { Token } from '../../greeting-client/schema.js'
import { KlinesError } from '../../klines/errors.js'

/** How tokens are printed: their messages as one text, or an object a line. */
export const TOKEN_FORMATS = ['text', 'jsonl'] as const
export type TokenFormat = (typeof TOKEN_FORMATS)[number]

/** Most characters of tokens that are kept to be printed together. */
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024

/** `streams tokens`: as they come, or with `json` together as one array, which only a whole stream gives. */
export async function printTokenStream(
  tokens: AsyncIterable<Token>,
  { json, format = 'text' }: { json: boolean; format?: TokenFormat | undefined },
  signal: AbortSignal,
): Promise<void> {
  if (json && format === 'jsonl') {
    throw new KlinesError('bad_option', '--json prints one array, -f jsonl an object a line. Expected one of them.')
  }
  if (json) process.stdout.write(`${JSON.stringify(await collectTokens(tokens), null, 2)}\n`)
  else await printTokens(tokens, format, signal)
}

/** Prints each token as it comes, no faster than the reader takes them. A text ends with a line end, whatever happens. */
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

/** All tokens of a stream. Throws `incomplete` beyond `most` characters: an endless one would take all memory. */
export async function collectTokens(tokens: AsyncIterable<Token>, most = MAX_KEPT_CHARACTERS): Promise<Token[]> {
  const all: Token[] = []
  let characters = 0
  for await (const token of tokens) {
    characters += JSON.stringify(token).length
    if (characters > most) {
      throw new KlinesError(
        'incomplete',
        `The token stream has more than ${most} characters, too many for one array.`,
        {
          suggestions: ['-f jsonl prints tokens as they come, however many.'],
        },
      )
    }
    all.push(token)
  }
  return all
}

/** Without the control characters, escape sequences among them, with which a stranger's text could steer a terminal. */
function plainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for; line feed and tab may stay
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
}
