import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { openRun } from '../../../src/engine/run.js'
import { LIMITS } from '../../../src/server/connections.js'
import type { ServerOptions } from '../../../src/server/server.js'
import { exchangeSetup } from '../exchange/exchange-setup.js'
import { madeMarket } from '../exchange/made-market.js'
import { startTestServer } from './test-server.js'
import { NO_PAUSE } from './upstream-setup.js'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
/** A minute has just closed. */
export const START = Date.UTC(2026, 3, 28, 22, 10, 16)
/** Looks often. */
export const QUICK = { ...LIMITS, lookMs: 20 }

/** `serve --upstream` over an exchange with minutes of BTCUSDT: a clock that the test moves is that of both. */
export async function followSetup(options: Partial<ServerOptions> = {}, from = START - (START % DAY) - 2 * DAY) {
  const market = madeMarket({ BTCUSDT: { from, until: START + 9 * DAY, minutes: 1 } })
  const { exchange, folder } = await exchangeSetup(market)
  const clock = { time: START }
  exchange.now = () => clock.time
  const now = () => clock.time
  const [baseUrl, mirror] = [`binance:${exchange.url}`, join(folder, 'mirror')]
  const upstream = () => openRun({ baseUrl, mirror }, { policy: NO_PAUSE, clock: now })
  const server = await startTestServer(mirror, { source: baseUrl, now, upstream, limits: QUICK, ...options })
  onTestFinished(() => expect(exchange.violations).toEqual([]))
  const calls = () => exchange.log.filter(({ kind }) => kind === 'klines')
  /** The rows of the exchange that open from one time to another. */
  const rowsOf = (start: number, end: number) =>
    (market.rows('BTCUSDT', '1m') ?? []).filter(([time]) => time >= start && time < end)
  return { ...server, exchange, baseUrl, mirror, clock, calls, rowsOf }
}
