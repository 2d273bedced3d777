import Negotiator from 'negotiator'
import { HttpError } from './error.js'

/** Content codings of a body (RFC 9110, 8.4). */
export type Coding = 'identity' | 'gzip' | 'br'

/** In the server's order of preference, for codings that a client weighs equally. */
const CODINGS: Coding[] = ['br', 'gzip', 'identity']

/** An option of negotiator 1 that its types lack. */
interface PreferringNegotiator {
  encoding(available: string[], options: { preferred: string[] }): string | undefined
}

/** The best coding that the client accepts. Throws `HttpError` 406 when it accepts none. */
export function chooseCoding(acceptEncoding: string | undefined): Coding {
  if (acceptEncoding === undefined) return 'identity'
  const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const coding = negotiator.encoding(CODINGS, { preferred: CODINGS })
  if (coding === undefined) throw new HttpError(406, 'Accept-Encoding leaves no way to send this: br, gzip, identity.')
  return coding as Coding
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
