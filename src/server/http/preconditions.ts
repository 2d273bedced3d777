import type { IncomingHttpHeaders } from 'node:http'
import fresh from 'fresh'
import parseRange from 'range-parser'
import { parseHttpDate } from '../../http/http-date.js'
import { HttpError } from './error.js'

/** The validators of a representation (RFC 9110, 8.8). */
export interface Validators {
  readonly etag: string
  readonly lastModified: string | undefined
}

/** First and last byte of a range, both inclusive, as in Content-Range. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Throws `HttpError` 412 when If-Match or If-Unmodified-Since fails (RFC 9110, 13.1.1 and 13.1.4). */
export function checkMatch(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): void {
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined) {
    const tags = ifMatch.split(',').map(tag => tag.trim())
    if (!tags.includes('*') && !tags.includes(etag)) throw new HttpError(412, 'There is another version of this now.')
    return
  }
  if (isUnmodified(headers['if-unmodified-since'], lastModified) === false)
    throw new HttpError(412, 'This was modified since.')
}

/**
 * Whether the client has this version already (RFC 9110, 13.1.2 and 13.1.3). The request's Cache-Control does not matter: it
 * is for caches, and `fetch` sends `no-cache` with every condition that its caller sets.
 */
export function isFresh(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  const tags = headers['if-none-match']
  if (tags !== undefined) return fresh({ 'if-none-match': tags }, { etag })
  return isUnmodified(headers['if-modified-since'], lastModified) === true
}

/** Whether a version is not newer than the date of a condition; undefined without such a condition or without a date. */
function isUnmodified(since: string | undefined, lastModified: string | undefined): boolean | undefined {
  // Most requests have no condition, and parsing a date takes a tenth of the time of a small response.
  const limit = parseHttpDate(since)
  const modified = limit === undefined ? undefined : parseHttpDate(lastModified)
  return limit === undefined || modified === undefined ? undefined : modified <= limit
}

/**
 * The requested range of a body of `size` bytes; undefined for the whole body, also when several ranges or other units are
 * requested (RFC 9110, 14.2 lets a server ignore them). Throws `HttpError` 416 for a range beyond the body.
 */
export function findRange(headers: IncomingHttpHeaders, size: number, current: Validators): ByteRange | undefined {
  const { range } = headers
  if (range === undefined || !isSameVersion(headers['if-range'], current)) return undefined
  // range-parser would treat other units as bytes, and drop those of several ranges that lie beyond the body.
  if (!/^bytes=[^,]*$/.test(range)) return undefined
  // A suffix longer than the body means the whole body (RFC 9110, 14.1.2); range-parser treats it as unsatisfiable.
  const [, suffix] = /^bytes=\s*-\s*(\d+)\s*$/.exec(range) ?? []
  if (Number(suffix) > size) return { start: 0, end: size - 1 }
  const ranges = parseRange(size, range)
  if (ranges === -1) {
    const message = `The body has ${size} bytes; the range lies outside.`
    throw new HttpError(416, message, { headers: { 'content-range': `bytes */${size}` } })
  }
  return ranges === -2 ? undefined : ranges[0]
}

/** If-Range (RFC 9110, 13.1.5): a range is useful only for the version of which the client has the rest. */
function isSameVersion(ifRange: string | string[] | undefined, { etag, lastModified }: Validators): boolean {
  return ifRange === undefined || ifRange === etag || ifRange === lastModified
}
