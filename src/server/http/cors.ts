import type { IncomingMessage } from 'node:http'

/**
 * Header fields of a response that pages of other sites may read (the Fetch standard's CORS protocol), and the fields of it
 * that they may see besides the common ones.
 */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Last-Modified, Content-Range',
}

/** Header fields of the response to a preflight: pages of other sites may read the public data, but not send POST. */
export const PREFLIGHT_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
}

/**
 * Whether a page of another site made a browser send this request (Fetch Metadata, `Sec-Fetch-Site`), also by a link. Such a request
 * must not make this server send requests of its own.
 *
 * `same-site` is no other site: ports do not count, so that it is what pages of other programs on this machine get, such as a
 * notebook at localhost:8888. They could send any request without a browser, too. A page of the internet is always `cross-site`.
 * Programs other than browsers send no such field.
 */
export function isFromOtherSite({ headers }: IncomingMessage): boolean {
  return headers['sec-fetch-site'] === 'cross-site'
}
