import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import parseRange from 'range-parser'
import { parseHttpDate } from '../sources/retry.js'
import type { Body, Coding, Representation } from './body.js'
import { CORS_HEADERS, HttpError } from './errors.js'

type Headers = Readonly<Record<string, string>>

/** Header fields that a 304 repeats (RFC 9110, 15.4.5), and those of every response. */
const UNMODIFIED_FIELDS = ['etag', 'last-modified', 'cache-control', 'vary', ...Object.keys(CORS_HEADERS)]

/**
 * Answers GET and HEAD with a body: content codings, conditional requests, one byte range. `extra` header fields override
 * those of the body. Throws `HttpError` 406, 412 and 416.
 */
export function sendBody(
  { raw: { headers, method } }: FastifyRequest,
  reply: FastifyReply,
  body: Body,
  extra?: Headers,
): void | Promise<void> {
  if (body.isJson) checkAcceptsJson(headers.accept)
  const acceptsPlain = acceptsIdentity(headers['accept-encoding'])
  // A range is cut from the plain bytes: most clients could not reassemble ranges of a coding.
  const isRange = method === 'GET' && headers.range !== undefined && acceptsPlain
  const coding = isRange || (body.isSmall && acceptsPlain) ? 'identity' : chooseCoding(headers['accept-encoding'])
  const send = (representation: Representation) => {
    const { bytes, etag } = representation
    const validators = { etag, lastModified: body.lastModified }
    checkMatch(headers, validators)
    const fields = extra ? { ...representation.headers, ...extra } : representation.headers
    if (isFresh(headers, validators)) return end(reply, 304, { ...pickUnmodified(representation.headers), ...extra })
    const range = isRange ? findRange(headers, bytes.length, validators) : undefined
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

function pickUnmodified(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => UNMODIFIED_FIELDS.includes(name)))
}

/** In the server's order of preference, for codings that a client weighs equally. */
const CODINGS: Coding[] = ['br', 'gzip', 'identity']

/** An option of negotiator 1 that its types lack. */
interface PreferringNegotiator {
  encoding(available: string[], options: { preferred: string[] }): string | undefined
}

/** The best coding that the client accepts. Throws `HttpError` 406 when it accepts none. */
function chooseCoding(acceptEncoding: string | undefined): Coding {
  if (acceptEncoding === undefined) return 'identity'
  const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const chosen = negotiator.encoding(CODINGS, { preferred: CODINGS })
  const coding = CODINGS.find(one => one === chosen)
  if (coding === undefined) throw new HttpError(406, 'Accept-Encoding leaves no way to send this: br, gzip, identity.')
  return coding
}

/** Whether the client accepts uncoded bytes: always, except for `identity;q=0` or `*;q=0`. */
export function acceptsIdentity(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined || !/;\s*q\s*=\s*0/i.test(acceptEncoding)) return true
  return new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encoding(['identity']) !== undefined
}

/** Throws `HttpError` 406 when the Accept header excludes JSON. */
export function checkAcceptsJson(accept: string | undefined): void {
  if (accept === undefined || accept === '*/*') return
  const types = new Negotiator({ headers: { accept } }).mediaTypes(['application/json'])
  if (types.length === 0) throw new HttpError(406, 'This is application/json, which Accept leaves out.')
}

/** The validators of a representation (RFC 9110, 8.8). */
interface Validators {
  readonly etag: string
  readonly lastModified: string | undefined
}

/** Throws `HttpError` 412 when If-Match or If-Unmodified-Since fails (RFC 9110, 13.1.1 and 13.1.4). */
function checkMatch(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): void {
  const match = headers['if-match']
  const isOther = match !== undefined && !listTags(match).some(tag => tag === '*' || tag === etag)
  if (isOther) throw new HttpError(412, 'There is another version of this now.')
  const isChanged = match === undefined && isUnmodified(headers['if-unmodified-since'], lastModified) === false
  if (isChanged) throw new HttpError(412, 'This was modified since.')
}

/**
 * Whether the client has this version already (RFC 9110, 13.1.2 and 13.1.3). The request's Cache-Control does not matter: it
 * is for caches, and `fetch` sends `no-cache` with every condition that its caller sets.
 */
function isFresh(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  const tags = headers['if-none-match']
  if (tags !== undefined) return listTags(tags).some(tag => tag === '*' || tag.replace(/^W\//, '') === etag)
  return isUnmodified(headers['if-modified-since'], lastModified) === true
}

/** The entity tags of a header field. */
function listTags(field: string): string[] {
  return field.split(',').map(tag => tag.trim())
}

/** Whether a version is not newer than the date of a condition; undefined without such a condition or without a date. */
function isUnmodified(since: string | undefined, lastModified: string | undefined): boolean | undefined {
  // Most requests have no condition, and parsing a date takes a tenth of the time of a small response.
  const limit = since && parseHttpDate(since)
  const modified = limit && parseHttpDate(lastModified)
  return limit && modified ? modified <= limit : undefined
}

/**
 * The requested range of a body of `size` bytes; undefined for the whole body, also when several ranges or other units are
 * requested (RFC 9110, 14.2 lets a server ignore them). Throws `HttpError` 416 for a range beyond the body.
 */
function findRange(headers: IncomingHttpHeaders, size: number, { etag, lastModified }: Validators) {
  const { range, 'if-range': ifRange } = headers
  // A range is useful only for the version of which the client has the rest (RFC 9110, 13.1.5).
  const isCurrent = ifRange === undefined || ifRange === etag || ifRange === lastModified
  // range-parser would treat other units as bytes, and drop those of several ranges that lie beyond the body.
  if (range === undefined || !isCurrent || !/^bytes=[^,]*$/.test(range)) return undefined
  // A suffix longer than the body means the whole body (RFC 9110, 14.1.2); range-parser treats it as unsatisfiable.
  const [, suffix] = /^bytes=\s*-\s*(\d+)\s*$/.exec(range) ?? []
  if (Number(suffix) > size) return { start: 0, end: size - 1 }
  const ranges = parseRange(size, range)
  if (ranges === -2) return undefined
  if (ranges !== -1) return ranges[0]
  const fields = { 'content-range': `bytes */${size}` }
  throw new HttpError(416, `The body has ${size} bytes; the range lies outside.`, { headers: fields })
}
