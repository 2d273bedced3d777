import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Body, Representation } from './body.js'
import { CORS_HEADERS } from './cors.js'
import { acceptsIdentity, checkAcceptsJson, chooseCoding } from './negotiation.js'
import { checkMatch, findRange, isFresh } from './preconditions.js'

type Headers = Readonly<Record<string, string>>

/** Header fields that a 304 repeats (RFC 9110, 15.4.5), and those of every response. */
const UNMODIFIED_FIELDS = ['etag', 'last-modified', 'cache-control', 'vary', ...Object.keys(CORS_HEADERS)]

/**
 * Answers GET and HEAD with a body: content codings, conditional requests, one byte range. `extra` header fields override
 * those of the body. Throws `HttpError` 406, 412 and 416.
 */
export function sendBody(
  request: IncomingMessage,
  response: ServerResponse,
  body: Body,
  extra?: Headers,
): void | Promise<void> {
  const { headers } = request
  if (body.isJson) checkAcceptsJson(headers.accept)
  const acceptsPlain = acceptsIdentity(headers['accept-encoding'])
  // A range is cut from the plain bytes: most clients could not reassemble ranges of a coding.
  const isRange = request.method === 'GET' && headers.range !== undefined && acceptsPlain
  const coding = isRange || (body.isSmall && acceptsPlain) ? 'identity' : chooseCoding(headers['accept-encoding'])
  const representation = body.in(coding)
  const send = (ready: Representation) => sendRepresentation({ request, response, body, isRange, extra }, ready)
  // Awaiting a representation that exists already would take longer than sending it.
  return representation instanceof Promise ? representation.then(send) : send(representation)
}

interface SendContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Body
  readonly isRange: boolean
  readonly extra: Headers | undefined
}

function sendRepresentation({ request, response, body, isRange, extra }: SendContext, representation: Representation) {
  const { headers } = request
  const { bytes, etag } = representation
  const validators = { etag, lastModified: body.lastModified }
  checkMatch(headers, validators)
  if (isFresh(headers, validators)) return send(response, 304, { ...pickUnmodified(representation.headers), ...extra })
  const range = isRange ? findRange(headers, bytes.length, validators) : undefined
  const fields = extra ? { ...representation.headers, ...extra } : representation.headers
  if (!range) return send(response, 200, fields, request.method === 'GET' ? bytes : undefined)
  const part = bytes.subarray(range.start, range.end + 1)
  const contentRange = `bytes ${range.start}-${range.end}/${bytes.length}`
  send(response, 206, { ...fields, 'content-length': String(part.length), 'content-range': contentRange }, part)
}

function send(response: ServerResponse, status: number, headers: Headers, bytes?: Buffer): void {
  response.writeHead(status, headers).end(bytes)
}

function pickUnmodified(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => UNMODIFIED_FIELDS.includes(name)))
}
