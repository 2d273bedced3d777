import type { IncomingHttpHeaders } from 'node:http'
import fresh from 'fresh'
import parseRange from 'range-parser'
import { HttpError } from './error.js'

/** What a client may already have: the two validators of a representation. */
export interface Validators {
  readonly etag: string
  readonly lastModified: string | undefined
}

/** A part of a body: first and last byte, both inclusive, as Content-Range has them. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Throws 412 when the client wants exactly another version (RFC 9110, 13.1.1 and 13.1.4). */
export function checkMatch(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): void {
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined) {
    const tags = ifMatch.split(',').map(tag => tag.trim())
    if (!tags.includes('*') && !tags.includes(etag)) throw new HttpError(412, 'There is another version of this now.')
    return
  }
  const since = headers['if-unmodified-since']
  if (since === undefined) return
  const limit = Date.parse(since)
  if (Date.parse(lastModified ?? '') > limit) throw new HttpError(412, 'This was modified since.')
}

/** Whether the client has it already (RFC 9110, 13.1.2 and 13.1.3). */
export function isFresh(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  if (headers['if-none-match'] === undefined && headers['if-modified-since'] === undefined) return false
  return fresh(headers, { etag, ...(lastModified !== undefined && { 'last-modified': lastModified }) })
}

/**
 * The one range that a request wants of a body of `size` bytes; undefined for all of it, which also answers what we do
 * not do (several ranges, other units; RFC 9110, 14.2 lets a server pass them over). Throws 416 for one outside.
 */
export function wantedRange(headers: IncomingHttpHeaders, size: number, now: Validators): ByteRange | undefined {
  const { range } = headers
  if (range === undefined || !isSameVersion(headers['if-range'], now)) return undefined
  // The parser would hold other units against the number of bytes, and leave out those of several ranges that lie outside.
  if (!/^bytes=[^,]*$/.test(range)) return undefined
  // More of the last bytes than there are are all of them (RFC 9110, 14.1.2); the parser takes that for one outside.
  const [, suffix] = /^bytes=\s*-\s*(\d+)\s*$/.exec(range) ?? []
  if (Number(suffix) > size) return { start: 0, end: size - 1 }
  const ranges = parseRange(size, range)
  if (ranges === -1) {
    const message = `The body has ${size} bytes; the range lies outside.`
    throw new HttpError(416, message, { headers: { 'content-range': `bytes */${size}` } })
  }
  return ranges === -2 ? undefined : ranges[0]
}

/** If-Range (RFC 9110, 13.1.5): a part is good only for the version that the client has the rest of. */
function isSameVersion(ifRange: string | string[] | undefined, { etag, lastModified }: Validators): boolean {
  return ifRange === undefined || ifRange === etag || ifRange === lastModified
}
