import type { IncomingMessage, ServerResponse } from 'node:http'
import Negotiator from 'negotiator'
import type { Body, Coding, Representation } from './body.js'
import { CORS_HEADERS, HttpError } from './error.js'
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
