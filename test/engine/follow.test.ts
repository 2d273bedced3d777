import { expect, it } from 'vitest'
import { followBatches } from '../../src/engine/follow.js'
import { exchangeSetup } from '../support/exchange/exchange-setup.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { FakeClock } from '../support/fake-clock.js'

it('x', async () => {
  const market = madeMarket({ BTCUSDT: { from: '2026-04-29T20:00Z', minutes: 1 }, ETHUSDT: { from: '2026-04-29T20:00Z', minutes: 1 } })
  const { exchange, request, warnings } = await exchangeSetup(market)
  const clock = new FakeClock(exchange.time)
  exchange.now = () => clock.now()
  const { now: _, ...rest } = request()
  const out: string[] = []
  const t = performance.now()
  for await (const batch of followBatches({ ...rest, symbols: ['BTCUSDT', 'ETHUSDT'], intervals: ['1m', '15m'], last: '2h' }, clock)) {
    for (let row = 0; row < batch.length; row++)
      out.push(`${batch.series.symbol} ${batch.series.interval} ${new Date(batch.openTime(row)).toISOString()} at ${new Date(clock.now()).toISOString()}`)
    if (out.length > 4000) break
  }
  console.log(performance.now() - t, out.slice(0, 3), out.slice(-60), warnings, exchange.log.length, exchange.violations)
})
