import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Coding } from './negotiation.js'

/** Below this a coding saves nothing worth its header. */
const MIN_CODED_BYTES = 256
/** What zlib fills: the buffer of anything shorter is one of these. */
const ZLIB_BLOCK_BYTES = 16 * 1024
/** Of 6 and 11: 4 ms and 200 ms for the largest window, a twentieth of the size apart. */
const BROTLI_QUALITY = 5

const coders = {
  gzip: promisify(gzip),
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** What is known of a body besides its bytes. */
export interface BodyFacts {
  /** Its media type; JSON unless said otherwise. */
  readonly type?: string
  /** When the file was modified, ms; undefined for a body that follows from a rule. */
  readonly mtimeMs?: number
  /** Whether it can change no more, so that a cache may keep it for good. */
  readonly final?: boolean
}

/** One form of a body, ready to be sent: its bytes and its header fields. */
export interface Representation {
  readonly bytes: Buffer
  readonly etag: string
  readonly headers: Readonly<Record<string, string>>
}

/** A body in memory. Each coding is made once, when it is first asked for. */
export class Body {
  readonly identity: Representation
  /** HTTP dates have whole seconds (RFC 9110, 5.6.7). */
  readonly lastModified: string | undefined
  private readonly hash: string
  private readonly coded = new Map<Coding, Promise<Representation>>()

  constructor(
    readonly bytes: Buffer,
    private readonly facts: BodyFacts = {},
  ) {
    this.hash = createHash('sha1').update(bytes).digest('base64url')
    this.lastModified = facts.mtimeMs === undefined ? undefined : new Date(facts.mtimeMs).toUTCString()
    this.identity = this.represent(bytes, 'identity')
  }

  get isJson(): boolean {
    return this.facts.type === undefined
  }

  /** Memory this takes, codings included: each is half of it at the most, and zlib gives no less than a block. */
  get size(): number {
    return this.bytes.length + (this.isSmall ? 0 : Math.max(this.bytes.length, 2 * ZLIB_BLOCK_BYTES)) + 1024
  }

  /** Whether a coding would gain nothing. */
  get isSmall(): boolean {
    return this.bytes.length < MIN_CODED_BYTES
  }

  /** The body in a coding. */
  in(coding: Coding): Representation | Promise<Representation> {
    if (coding === 'identity') return this.identity
    const made = this.coded.get(coding) ?? this.code(coding)
    this.coded.set(coding, made)
    return made
  }

  private async code(coding: 'gzip' | 'br'): Promise<Representation> {
    return this.represent(await coders[coding](this.bytes), coding)
  }

  /** A strong tag differs from coding to coding (RFC 9110, 8.8.3.3). */
  private represent(bytes: Buffer, coding: Coding): Representation {
    const etag = coding === 'identity' ? `"${this.hash}"` : `"${this.hash}-${coding}"`
    const headers = {
      'content-type': this.facts.type ?? JSON_TYPE,
      'content-length': String(bytes.length),
      ...(coding !== 'identity' && { 'content-encoding': coding }),
      etag,
      ...(this.lastModified !== undefined && { 'last-modified': this.lastModified }),
      'cache-control': this.facts.final ? 'public, max-age=31536000, immutable' : 'public, no-cache',
      vary: 'accept-encoding',
      'accept-ranges': 'bytes',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    }
    return { bytes, etag, headers }
  }
}
