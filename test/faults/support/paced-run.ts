import { marketOf } from '../../../src/candles/base-url.js'
import { type PlanRequest, planRequest } from '../../../src/engine/plan.js'
import { refresh } from '../../../src/engine/refresh.js'
import { openRun, type WindowOutcome } from '../../../src/engine/run.js'
import { exchangeSource } from '../../../src/sources/exchange.js'
import { exchangeRules } from '../../../src/sources/exchange-api.js'
import { Fetcher } from '../../../src/sources/fetcher.js'
import { RETRY_POLICY } from '../../../src/sources/retry.js'
import { HttpTransport } from '../../../src/sources/transport.js'
import type { FakeClock } from '../../support/fake-clock.js'
import type { ExchangeServer } from '../../support/servers/exchange-server.js'

type PacedRequest = PlanRequest & { readonly mirror: string; readonly concurrency: number }

/**
 * Downloads from an exchange of USD-M futures whose clock is that of the client, and moves only when somebody waits. Returns what became
 * of the windows, and how long the run took by that clock.
 */
export async function pacedRun(exchange: ExchangeServer, clock: FakeClock, request: PacedRequest) {
  const { mirror, concurrency, ...asked } = request
  const name = `binance-usdm:${exchange.url}`
  const market = marketOf(name)
  if (market === undefined) throw new Error(`${name} is no market`)
  exchange.now = () => clock.now()
  const begun = clock.elapsed()
  const opened = await openRun({ baseUrl: name, mirror, concurrency }, { clock: () => clock.now() })
  await opened.source.close()
  const fetcher = new Fetcher(new HttpTransport(exchange.url, { connections: concurrency }), name, {
    concurrency,
    clock,
    policy: RETRY_POLICY,
    rules: exchangeRules(name, market, () => clock.now()),
  })
  const source = exchangeSource(fetcher, market, { now: () => clock.now(), observe: () => {} }, () => {})
  const run = { ...opened, source }
  try {
    const plan = await planRequest(asked, run)
    const outcomes: WindowOutcome[] = []
    for await (const outcome of refresh(run, plan.series)) outcomes.push(outcome)
    return { outcomes, tookMs: clock.elapsed() - begun }
  } finally {
    await fetcher.close()
    opened.mirror.flushAll()
  }
}
