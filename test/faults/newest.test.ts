import { expect, it } from 'vitest'
import { ChartSchema } from '../../src/commands/reports/schemas.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject } from '../support/cli/stocked-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'

const MINUTE = 60_000

const newSandbox = useSandboxes()

/** The open time of the last candle that a chart has without a range, ms UTC. */
async function lastOpenTime(now: number, ...args: string[]): Promise<number | undefined> {
  const sandbox = newSandbox()
  sandbox.now = now
  const run = await sandbox.call(['chart', ...args, '--mirror', 'm', '--json'])
  expect(run.code, run.stderr).toBe(0)
  const offline = await sandbox.call(['chart', ...args, '--mirror', 'm', '--json', '--offline'])
  expect(parseObject(offline.stdout, ChartSchema).series).toEqual(parseObject(run.stdout, ChartSchema).series)
  return parseObject(run.stdout, ChartSchema).series[0].lastOpenTime
}

it('F81 the newest candle is found behind empty windows of a symbol of the exchange that was suspended for days', async () => {
  const market = madeMarket({
    AAAUSDT: {
      from: '2026-05-10T06:00Z',
      until: '2026-05-14T01:00Z',
      minutes: 1,
      without: [['2026-05-10T12:00Z', '2026-05-14T00:00Z']],
    },
  })
  const exchange = await ExchangeServer.start(market)
  for (const date of ['2026-05-19', '2026-06-14']) {
    exchange.now = Date.parse(date)
    const series = ['AAAUSDT', '-i', '1m', '--base-url', `binance:${exchange.url}`]
    expect(await lastOpenTime(exchange.now, ...series)).toBe(Date.parse('2026-05-14T01:00Z') - MINUTE)
  }
})
