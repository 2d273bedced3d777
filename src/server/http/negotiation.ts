import Negotiator from 'negotiator'
import { HttpError } from './error.js'

/** How a body is coded on its way (RFC 9110, 8.4). */
export type Coding = 'identity' | 'gzip' | 'br'

/** Best first, of what a client likes as well. */
const CODINGS: Coding[] = ['br', 'gzip', 'identity']

/** What negotiator 1 has and its types do not know yet. */
interface PreferringNegotiator {
  encoding(available: string[], options: { preferred: string[] }): string | undefined
}

/** What a client takes of the codings we have, the best for both; throws 406 when it takes none. */
export function chooseCoding(acceptEncoding: string | undefined): Coding {
  if (acceptEncoding === undefined) return 'identity'
  const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const coding = negotiator.encoding(CODINGS, { preferred: CODINGS })
  if (coding === undefined) throw new HttpError(406, 'Accept-Encoding leaves no way to send this: br, gzip, identity.')
  return coding as Coding
}

/** Whether a client takes bytes as they are; only one that says `identity;q=0`, or `*;q=0`, does not. */
export function takesIdentity(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined || !/;\s*q\s*=\s*0/i.test(acceptEncoding)) return true
  return new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encoding(['identity']) !== undefined
}

/** Throws 406 when a client's Accept leaves out JSON. */
export function checkAcceptsJson(accept: string | undefined): void {
  if (accept === undefined || accept === '*/*') return
  const types = new Negotiator({ headers: { accept } }).mediaTypes(['application/json'])
  if (types.length === 0) throw new HttpError(406, 'This is application/json, which Accept leaves out.')
}
