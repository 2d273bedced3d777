import { PassThrough } from 'node:stream'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import pLimit from 'p-limit'
import type { Dispatcher } from 'undici'
import { errnoCode } from '../../fs/errno.js'
import { quoteText } from '../../klines/text.js'
import { FetchError, toFetchError } from '../fetch-error.js'

/** Bytes of a body buffered before the sender has to wait. */
const READ_AHEAD_BYTES = 1024 * 1024

/** Larger than any window of the service: the largest has 139,569 bytes. */
const LARGE_BYTES = 256 * 1024

/** Few larger bodies are read at once: sixteen could take 8 MiB each. */
const limitLarge = pLimit(2)

/** A response with its whole body, decoded. */
export interface WholeResponse {
  readonly status: number
  readonly headers: Record<string, string | undefined>
  readonly body: Buffer
  /** Size of the body as received, before decoding, bytes. */
  readonly wireBytes: number
}

/** A response whose headers have arrived and whose body is still to be read, whole or in chunks. */
export class HttpResponse {
  readonly status: number
  readonly headers: Record<string, string | undefined>

  constructor(
    private readonly response: Dispatcher.ResponseData,
    private readonly signal: AbortSignal,
  ) {
    this.status = response.statusCode
    this.headers = flatten(response.headers)
  }

  /** Reads the whole body. Throws a `FetchError`, or the signal's reason when it aborts. */
  async readWhole(): Promise<WholeResponse> {
    const { status, headers } = this
    try {
      const raw = await collect(this.response)
      return { status, headers, body: await decodeBody(raw, headers['content-encoding']), wireBytes: raw.length }
    } catch (error) {
      this.signal.throwIfAborted()
      throw error instanceof FetchError ? error : toFetchError(error)
    }
  }

  /**
   * Yields the body's bytes as they arrive; a caller that stops early closes the connection. A fault is thrown after all
   * bytes before it, however slow the caller is: undici itself drops unread bytes. Throws like `readWhole`.
   */
  async *chunks(): AsyncGenerator<Buffer> {
    const { body } = this.response
    const buffered = new PassThrough({ highWaterMark: READ_AHEAD_BYTES })
    let fault: unknown
    body.on('error', error => {
      fault = error
      buffered.end()
    })
    body.pipe(buffered)
    try {
      yield* buffered
    } finally {
      body.destroy()
    }
    this.signal.throwIfAborted()
    if (fault !== undefined) throw toFetchError(fault)
  }
}

/** Reads a body without decoding it. Throws a `permanent` error when it is larger than the cap, announced or not. */
async function collect(response: Dispatcher.ResponseData): Promise<Buffer> {
  const announced = Number(response.headers['content-length'] ?? 0)
  const chunks: Buffer[] = []
  let total = 0
  const body = response.body[Symbol.asyncIterator]()
  /** Reads on until the body ends or is larger than `maxBytes`; returns whether it is larger. */
  const exceeds = async (maxBytes: number): Promise<boolean> => {
    while (total <= maxBytes) {
      const { done, value } = await body.next()
      if (done) return false
      total += value.length
      chunks.push(value)
    }
    return true
  }
  const isTooLarge =
    announced > MAX_WIRE_BYTES || ((await exceeds(LARGE_BYTES)) && (await limitLarge(() => exceeds(MAX_WIRE_BYTES))))
  if (isTooLarge) {
    response.body.on('error', () => {}).destroy()
    const details = { status: response.statusCode }
    throw new FetchError('permanent', `the body is larger than ${MAX_WIRE_BYTES} bytes`, details)
  }
  return Buffer.concat(chunks, total)
}

/** Joins the values of repeated headers with commas. */
function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  )
}

/** The largest body accepted from the network, bytes; the largest window has 139,569. */
const MAX_WIRE_BYTES = 8 * 1024 * 1024
/** The largest body accepted after decoding, bytes. */
const MAX_DECODED_BYTES = 16 * 1024 * 1024

/** Larger than any window, so that zlib decodes one in a single call on its thread. */
const CHUNK_BYTES = 160 * 1024

/** One body is decoded at a time: each of sixteen could take 32 MiB while it is decoded, and a window takes 1 ms. */
const limitDecoding = pLimit(1)

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
