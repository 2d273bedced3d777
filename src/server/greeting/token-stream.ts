import { setTimeout as sleep } from 'node:timers/promises'
import type { Token } from '../../greeting-client/schema.js'
import { KlinesError } from '../../klines/errors.js'

/** What the token stream says by default. */
export const DEFAULT_STREAM_TEXT = 'Hello! A candle has an open, a high, a low and a close. Take each word as it comes.'

/** The pace of the public instance. */
export const WORD_MS = 200

/**
 * Splits a text into words, each with the white space before it, the last also with that behind it: joined, they are the text
 * again. Throws `bad_option` for a text without words: clients could not tell its stream from a broken one.
 */
export function splitWords(text: string): string[] {
  const words = text.match(/\s*\S+(\s+$)?/g)
  if (words) return words
  const message = `\`streamText\` is ${JSON.stringify(text)}. Expected a text with at least one word.`
  throw new KlinesError('bad_option', message)
}

/** Words as tokens, one every `wordMs`. Throws when the signal aborts. */
export async function* wordTokens(
  words: readonly string[],
  signal: AbortSignal,
  wordMs = WORD_MS,
): AsyncGenerator<Token> {
  for (const [index, message] of words.entries()) {
    if (index > 0) await sleep(wordMs, undefined, { signal })
    yield { message }
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
