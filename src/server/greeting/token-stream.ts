import { setTimeout as sleep } from 'node:timers/promises'
import type { Token } from '../../greeting-client/schema.js'

const TEXT = 'Hello! A candle has an open, a high, a low and a close. Take each word as it comes.'

/** The pace of the public instance. */
export const WORD_MS = 200

/** The words of a text as tokens, one every `wordMs`. Throws when the signal aborts. */
export async function* greetingTokens(signal: AbortSignal, wordMs = WORD_MS): AsyncGenerator<Token> {
  for (const [index, word] of TEXT.split(' ').entries()) {
    if (index > 0) await sleep(wordMs, undefined, { signal })
    yield { message: index === 0 ? word : ` ${word}` }
  }
}

/** Tokens as JSON Lines; like the public instance, reports an error as the last line. */
export async function* jsonLines(tokens: AsyncIterable<Token>, signal: AbortSignal): AsyncGenerator<string> {
  try {
    for await (const token of tokens) yield `${JSON.stringify(token)}\n`
  } catch {
    if (!signal.aborted) yield `${JSON.stringify({ isError: true, reason: 'Internal error.' })}\n`
  }
}
