import { FetchError } from '../http/fetch-error.js'

/** Most bytes one line may have. */
export const MAX_LINE_BYTES = 1024 * 1024

const LINE_FEED = 0x0a

/**
 * The lines of a body in UTF-8 as they become whole, wherever it was cut on its way; blank ones are left out, the last
 * one may lack its line end, and a CR before it counts as space. Throws a `invalid` failure for a line of more than
 * 1 MiB or one that is not UTF-8, after the lines before it.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  // Cut at bytes, before decoding: in UTF-8 a line feed is never part of another character.
  const parts: Buffer[] = []
  let size = 0
  const add = (part: Buffer) => {
    size += part.length
    if (size > MAX_LINE_BYTES) throw new FetchError('invalid', `a line is longer than ${MAX_LINE_BYTES} bytes`)
    parts.push(part)
  }
  const takeLine = () => {
    const line = decodeUtf8(Buffer.concat(parts, size)).trim()
    parts.length = 0
    size = 0
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
    if (start < chunk.length) add(chunk.subarray(start))
  }
  const last = takeLine()
  if (last !== '') yield last
}

/** A text in UTF-8, without a BOM. Throws a `invalid` failure when it is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new FetchError('invalid', 'it is not UTF-8', { cause })
  }
}

/** A JSON value. Throws a `invalid` failure when the text is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new FetchError('invalid', 'it is not JSON', { cause, notJson: true })
  }
}
