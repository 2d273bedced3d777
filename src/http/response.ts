import { PassThrough } from 'node:stream'
import pLimit from 'p-limit'
import type { Dispatcher } from 'undici'
import { decodeBody, MAX_WIRE_BYTES } from './decode-body.js'
import { FetchError, toFetchError } from './fetch-error.js'

/** How much of a body may lie here unread before the other side has to wait. */
const READ_AHEAD_BYTES = 1024 * 1024

/** More than any window of the service has: the largest is 139,569 bytes. */
const LARGE_BYTES = 256 * 1024

/** Bodies that are taken at once beyond that: sixteen could be 8 MiB each. The rest of the others waits on the wire. */
const takingLarge = pLimit(2)

/** An answer, whole and without its content coding. */
export interface WholeResponse {
  readonly status: number
  readonly headers: Record<string, string | undefined>
  readonly body: Buffer
  /** Bytes of the body as they came over the wire. */
  readonly wireBytes: number
}

/** An answer whose headers have come and whose body is still to be taken: whole, or as it comes. */
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

  /** The answer with all of its body. Throws a `FetchError`, or the signal's reason when that aborts. */
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
   * The body's bytes as they come; a caller that stops early hangs up. A fault is thrown after all that came before it,
   * however slow the caller is: undici itself would drop what has not been read. Throws like `whole`.
   */
  async *chunks(): AsyncGenerator<Buffer> {
    const { body } = this.response
    const kept = new PassThrough({ highWaterMark: READ_AHEAD_BYTES })
    let fault: unknown
    body.on('error', error => {
      fault = error
      kept.end()
    })
    body.pipe(kept)
    try {
      yield* kept
    } finally {
      body.destroy()
    }
    this.signal.throwIfAborted()
    if (fault !== undefined) throw toFetchError(fault)
  }
}

/** A body's bytes as they came; a `permanent` error beyond the cap, announced or not. */
async function collect(response: Dispatcher.ResponseData): Promise<Buffer> {
  const announced = Number(response.headers['content-length'] ?? 0)
  const chunks: Buffer[] = []
  let total = 0
  const body = response.body[Symbol.asyncIterator]()
  /** Takes what comes; whether it is more than `most` bytes. */
  const isMoreThan = async (most: number): Promise<boolean> => {
    while (total <= most) {
      const { done, value } = await body.next()
      if (done) return false
      total += value.length
      chunks.push(value)
    }
    return true
  }
  const isTooLarge =
    announced > MAX_WIRE_BYTES ||
    ((await isMoreThan(LARGE_BYTES)) && (await takingLarge(() => isMoreThan(MAX_WIRE_BYTES))))
  if (isTooLarge) {
    response.body.on('error', () => {}).destroy()
    throw new FetchError('permanent', `the body is larger than ${MAX_WIRE_BYTES} bytes`, {
      status: response.statusCode,
    })
  }
  return Buffer.concat(chunks, total)
}

/** Headers with one value each; a repeated one is joined as a list. */
function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  )
}
