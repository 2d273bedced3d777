import type { KlinesError } from '../klines/errors.js'
import type { WholeResponse } from './transport/transport.js'

/** The end of all requests to a host. */
export interface Refusal {
  readonly error: KlinesError
  /** Until when the host refuses, ms UTC. */
  readonly untilTime: number
}

/** What a host demands beside statuses and Retry-After. */
export interface HostRules {
  /** What ends the run after this response: further requests would be refused too. */
  findRefusal(response: WholeResponse): Refusal | undefined
  /** How long every further request has to wait after the response for `path`, ms; 0 for no pause. */
  pauseAfter(response: WholeResponse, path: string): number
  /** Called when a request for `path` got no response: the host may have counted it. */
  countFailure(path: string): void
  /** Why requests have to wait, for people: `half the request limit is used`, short enough for one line of a terminal. */
  readonly pauseReason: string
}

/** A host that demands nothing. */
export const NO_RULES: HostRules = {
  findRefusal: () => undefined,
  pauseAfter: () => 0,
  countFailure: () => {},
  pauseReason: '',
}
