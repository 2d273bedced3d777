import { FetchError } from '../sources/fetch-error.js'

/** The longest line accepted, bytes: a stream without a line end must not take all memory. */
export const MAX_LINE_BYTES = 1024 * 1024

const LINE_FEED = 0x0a

/**
 * Yields the lines of a UTF-8 body as soon as they are complete, trimmed, without blank lines; the last one needs no line end. Throws an
 * `invalid` error for a line that is longer than 1 MiB or not UTF-8, after the lines before it.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  // Lines are split before decoding: in UTF-8 a line feed byte is never part of another character.
  let parts: Buffer[] = []
  const add = (part: Buffer) => {
    parts.push(part)
    if (parts.reduce((sum, { length }) => sum + length, 0) <= MAX_LINE_BYTES) return
    throw new FetchError('invalid', `a line is longer than ${MAX_LINE_BYTES} bytes`)
  }
  const takeLine = () => {
    const line = decodeUtf8(Buffer.concat(parts)).trim()
    parts = []
    return line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      add(chunk.subarray(start, end))
      const line = takeLine()
      if (line !== '') yield line
      start = end + 1
    }
    add(chunk.subarray(start))
  }
  const last = takeLine()
  if (last !== '') yield last
}

/** Decodes UTF-8 and removes a BOM. Throws an `invalid` error when the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new FetchError('invalid', 'it is not UTF-8', { cause })
  }
}
