import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import parseRange from 'range-parser'
import { parseHttpDate } from '../sources/retry.js'
import { CORS_HEADERS, HttpError } from './errors.js'

/** Content codings of a body (RFC 9110, 8.4). */
type Coding = 'identity' | 'gzip' | 'br'

/** Smaller bodies gain nothing from a coding. */
const MIN_CODED_BYTES = 256
/** Memory for the codings of a body, bytes: together they are about half as long, and the output of zlib takes whole blocks. */
const codedBytes = (length: number) => Math.max(32 * 1024, 0.75 * length)
/** Measured on the largest window: quality 11 takes 200 ms instead of 4 ms and saves a twentieth of the size. */
const BROTLI = {
  [constants.BROTLI_PARAM_QUALITY]: 5,
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
}
const coders = {
  gzip: promisify(gzip),
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { ...BROTLI, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
}

/** `type`: the media type, default JSON; `mtimeMs`: when it was modified, ms UTC; undefined for a body that nobody modifies. */
interface BodyMetadata {
  readonly type?: string | undefined
  readonly mtimeMs?: number
  /** Whether it will never change, so that caches may keep it forever. */
  readonly final?: boolean
  /** Whether pages of other sites may not read it: it has no CORS fields. */
  readonly isPrivate?: boolean
}

/** A body in one coding, ready to be sent: its bytes and header fields. */
interface Representation {
  readonly bytes: Buffer
  readonly etag: string
  readonly headers: Readonly<Record<string, string>>
}

/** A body in memory. Each coding is computed once, on first use. */
export class Body {
  /** As an HTTP date, in whole seconds (RFC 9110, 5.6.7). */
  readonly lastModified: string | undefined
  readonly isSmall: boolean
  /** Memory use with all codings, bytes. */
  readonly size: number
  private readonly hash: string
  private readonly identity: Representation
  private readonly coded = new Map<Coding, Promise<Representation>>()

  constructor(
    readonly bytes: Buffer,
    private readonly metadata: BodyMetadata = {},
  ) {
    this.hash = createHash('sha1').update(bytes).digest('base64url')
    this.lastModified = metadata.mtimeMs === undefined ? undefined : new Date(metadata.mtimeMs).toUTCString()
    this.isSmall = bytes.length < MIN_CODED_BYTES
    this.size = Math.ceil(1024 + bytes.length + (this.isSmall ? 0 : codedBytes(bytes.length)))
    this.identity = this.represent(bytes, 'identity')
  }

  in(coding: Coding): Representation | Promise<Representation> {
    if (coding === 'identity') return this.identity
    const coded = this.coded.get(coding) ?? coders[coding](this.bytes).then(bytes => this.represent(bytes, coding))
    this.coded.set(coding, coded)
    return coded
  }

  private represent(bytes: Buffer, coding: Coding): Representation {
    const { type = 'application/json; charset=utf-8', final, isPrivate } = this.metadata
    const isCoded = coding !== 'identity'
    // A strong ETag differs between codings (RFC 9110, 8.8.3.3).
    const etag = isCoded ? `"${this.hash}-${coding}"` : `"${this.hash}"`
    const headers = {
      'content-type': type,
      'content-length': String(bytes.length),
      ...(isCoded && { 'content-encoding': coding }),
      etag,
      ...(this.lastModified !== undefined && { 'last-modified': this.lastModified }),
      'cache-control': final ? 'public, max-age=31536000, immutable' : 'public, no-cache',
      vary: 'accept-encoding',
      'accept-ranges': 'bytes',
      ...(!isPrivate && CORS_HEADERS),
      'x-content-type-options': 'nosniff',
    }
    return { bytes, etag, headers }
  }
}

type Headers = Readonly<Record<string, string>>

/** Header fields that a 304 repeats (RFC 9110, 15.4.5), and those of every response. */
const UNMODIFIED_FIELDS = ['etag', 'last-modified', 'cache-control', 'vary', ...Object.keys(CORS_HEADERS)]

/**
 * Answers GET and HEAD with a body: content codings, conditional requests, one byte range. `extra` header fields override
 * those of the body. Throws `HttpError` 416.
 */
export function sendBody(
  { raw: { headers, method } }: FastifyRequest,
  reply: FastifyReply,
  body: Body,
  extra?: Headers | '',
): void | Promise<void> {
  // A range is cut from the plain bytes: most clients could not reassemble ranges of a coding.
  const isRange = method === 'GET' && headers.range !== undefined
  const coding = isRange || body.isSmall ? 'identity' : chooseCoding(headers['accept-encoding'])
  const { lastModified } = body
  const send = ({ bytes, etag, headers: own }: Representation) => {
    if (isUnmodified(headers, etag, lastModified)) {
      const kept = Object.entries(own).filter(([name]) => UNMODIFIED_FIELDS.includes(name))
      return end(reply, 304, { ...Object.fromEntries(kept), ...extra })
    }
    const fields = extra ? { ...own, ...extra } : own
    const range = isRange ? findRange(headers, bytes.length, [etag, lastModified]) : undefined
    if (!range) return end(reply, 200, fields, method === 'GET' ? bytes : undefined)
    const part = bytes.subarray(range.start, range.end + 1)
    const contentRange = `bytes ${range.start}-${range.end}/${bytes.length}`
    return end(reply, 206, { ...fields, 'content-length': String(part.length), 'content-range': contentRange }, part)
  }
  const representation = body.in(coding)
  // Awaiting a representation that exists already would take longer than sending it.
  return representation instanceof Promise ? representation.then(send) : send(representation)
}

function end(reply: FastifyReply, status: number, headers: Headers, bytes?: Buffer): void {
  // The rest of the request could not be read meanwhile, and it got an error for that.
  if (!reply.raw.headersSent) reply.code(status).headers(headers).send(bytes)
}

/** In the server's order of preference, for codings that a client weighs equally. */
const CODINGS: Coding[] = ['br', 'gzip', 'identity']

/** An option of negotiator 1 that its types lack. */
interface PreferringNegotiator {
  encoding(available: string[], options: { preferred: string[] }): string | undefined
}

/** The best coding that the client accepts; none for a client that accepts none of them. */
function chooseCoding(acceptEncoding: string | undefined): Coding {
  if (acceptEncoding === undefined) return 'identity'
  const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  return (negotiator.encoding(CODINGS, { preferred: CODINGS }) ?? 'identity') as Coding
}

/**
 * Whether the client has this version already (RFC 9110, 13.1). The request's Cache-Control does not matter: it is for caches, and `fetch`
 * sends `no-cache` with every condition that its caller sets.
 */
function isUnmodified(headers: IncomingHttpHeaders, etag: string, lastModified: string | undefined): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers
  if (tags !== undefined) return tags.split(',').some(tag => ['*', etag, `W/${etag}`].includes(tag.trim()))
  // Most requests have no condition, and parsing a date takes a tenth of the time of a small response.
  if (since === undefined || lastModified === undefined) return false
  return (parseHttpDate(lastModified) ?? 0) <= (parseHttpDate(since) ?? -1)
}

/**
 * The requested range of a body of `size` bytes; undefined for the whole body, also when several ranges or other units are
 * requested (RFC 9110, 14.2 lets a server ignore them). Throws `HttpError` 416 for a range beyond the body.
 */
function findRange({ range = '', 'if-range': ifRange }: IncomingHttpHeaders, size: number, validators: unknown[]) {
  // A range is useful only for the version of which the client has the rest (RFC 9110, 13.1.5).
  const isCurrent = ifRange === undefined || validators.includes(ifRange)
  // range-parser would treat other units as bytes, and drop those of several ranges that lie beyond the body.
  if (!isCurrent || !/^bytes=[^,]*$/.test(range)) return undefined
  // A suffix longer than the body means the whole body (RFC 9110, 14.1.2); range-parser treats it as unsatisfiable.
  const [, suffix] = /^bytes=\s*-\s*(\d+)\s*$/.exec(range) ?? []
  if (Number(suffix) > size) return { start: 0, end: size - 1 }
  const ranges = parseRange(size, range)
  if (ranges === -2) return undefined
  if (ranges !== -1) return ranges[0]
  const fields = { 'content-range': `bytes */${size}` }
  throw new HttpError(416, `The body has ${size} bytes; the range lies outside.`, { headers: fields })
}
