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
