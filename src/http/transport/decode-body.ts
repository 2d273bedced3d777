import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import pLimit from 'p-limit'
import { errnoCode } from '../../fs/errno.js'
import { quoteText } from '../../klines/text.js'
import { FetchError } from '../fetch-error.js'

/** The largest body accepted from the network, bytes; the largest window has 139,569. */
export const MAX_WIRE_BYTES = 8 * 1024 * 1024
/** The largest body accepted after decoding, bytes. */
export const MAX_DECODED_BYTES = 16 * 1024 * 1024

/** Larger than any window, so that zlib decodes one in a single call on its thread. */
const CHUNK_BYTES = 160 * 1024

/** Few bodies are decoded at once: each of sixteen could take 32 MiB while it is decoded. */
const limitDecoding = pLimit(2)

/** The codings that `decodeBody` knows, as a request names them. */
export const ACCEPT_ENCODING = 'gzip, br'

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
}

/**
 * Removes the content coding of a body (RFC 9110, section 8.4). Throws a `FetchError`: `permanent` when the result is larger
 * than 16 MiB, `invalid` when the coding is unknown, nested or broken.
 */
export async function decodeBody(body: Buffer, contentEncoding: string | undefined): Promise<Buffer> {
  const coding = (contentEncoding ?? 'identity').trim().toLowerCase()
  // A 304 or an error may name the coding of the file without having a body.
  if (coding === 'identity' || coding === '' || body.length === 0) return body
  if (!Object.hasOwn(decoders, coding))
    throw new FetchError('invalid', `unknown content encoding ${quoteText(coding.slice(0, 40))}`)
  try {
    const decode = decoders[coding as keyof typeof decoders]
    return await limitDecoding(() => decode(body, { maxOutputLength: MAX_DECODED_BYTES, chunkSize: CHUNK_BYTES }))
  } catch (cause) {
    if (errnoCode(cause) === 'ERR_BUFFER_TOO_LARGE') {
      throw new FetchError('permanent', `the ${coding} body decodes to more than ${MAX_DECODED_BYTES} bytes`, { cause })
    }
    throw new FetchError('invalid', `the body is not valid ${coding} (${(cause as Error).message})`, { cause })
  }
}
