import type { HostRules, Refusal } from '../http/host-rules.js'
import type { WholeResponse } from '../http/transport/transport.js'
import { callWeight } from './query.js'
import { findRefusal } from './refusal.js'
import { WeightCounter } from './weight.js'

/** The exchange's limits and refusals. */
export class ExchangeRules implements HostRules {
  readonly pauseReason = 'half the request limit is used'
  private readonly weight = new WeightCounter()

  constructor(
    private readonly baseUrl: string,
    /** This machine's clock, ms UTC. */
    private readonly now: () => number,
  ) {}

  findRefusal(response: WholeResponse): Refusal | undefined {
    return findRefusal(this.baseUrl, response, this.now())
  }

  pauseAfter(response: WholeResponse, path: string): number {
    const servedMs = Date.parse(response.headers.date ?? '')
    return this.weight.add(response, callWeight(path), Number.isNaN(servedMs) ? this.now() : servedMs)
  }

  countFailure(path: string): void {
    this.weight.addFailure(callWeight(path))
  }
}
