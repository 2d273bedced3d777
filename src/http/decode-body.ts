import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import pLimit from 'p-limit'
import { quoteText } from '../klines/escape.js'
import { FetchError } from './fetch-error.js'

/** Most bytes taken from the wire for one file; the largest window has 139,569. */
export const MAX_WIRE_BYTES = 8 * 1024 * 1024
/** Most bytes a file may have when decoded. */
export const MAX_DECODED_BYTES = 16 * 1024 * 1024

/** More than the largest window of the service has: decoded in one piece, which takes one trip to another thread. */
const PIECE_BYTES = 160 * 1024

/** Bodies that are decoded at once: sixteen that are small on the wire could be 16 MiB each, and twice that meanwhile. */
const decoding = pLimit(2)

/** What we can decode, as the request says it. */
export const ACCEPT_ENCODING = 'gzip, br'

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
}

/**
 * A body without its content coding (RFC 9110, 8.4). Throws a `permanent` error when it is larger than the cap, which a
 * bomb would be again, and a `invalid` one when the coding is unknown, nested or broken.
 */
export async function decodeBody(body: Buffer, contentEncoding: string | undefined): Promise<Buffer> {
  const coding = (contentEncoding ?? 'identity').trim().toLowerCase()
  // A 304 or an error may repeat the coding of the file without having a body.
  if (coding === 'identity' || coding === '' || body.length === 0) return body
  if (!Object.hasOwn(decoders, coding))
    throw new FetchError('invalid', `unknown content encoding ${quoteText(coding.slice(0, 40))}`)
  try {
    const decode = decoders[coding as keyof typeof decoders]
    return await decoding(() => decode(body, { maxOutputLength: MAX_DECODED_BYTES, chunkSize: PIECE_BYTES }))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new FetchError('permanent', `the ${coding} body decodes to more than ${MAX_DECODED_BYTES} bytes`, { cause })
    }
    throw new FetchError('invalid', `the body is not sound ${coding} (${(cause as Error).message})`, { cause })
  }
}
