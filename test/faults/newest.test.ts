import { describe, expect, it } from 'vitest'
import { knownStartDates } from '../../src/candles/windows.js'
import { ChartSchema } from '../../src/cli/reports/schemas.js'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { parseObject } from '../support/cli/stocked-sandbox.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { putWeek } from '../support/quarter-hour-tree.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { candle, makeTree, putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const MINUTE = 60_000
const WEEK = 7 * 86_400_000
const FIRST = Date.UTC(2024, 11, 30)

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

describe('F81 the newest candle is found behind empty windows', () => {
  it('of a symbol of the exchange that was suspended for days', async () => {
    const market = madeMarket({
      AAAUSDT: {
        from: '2026-05-01T00:00Z',
        until: '2026-05-20T01:00Z',
        minutes: true,
        without: [['2026-05-10T12:00Z', '2026-05-20T00:00Z']],
      },
    })
    const exchange = await ExchangeServer.start(market)
    for (const date of ['2026-05-25', '2026-06-03', '2026-06-20']) {
      exchange.now = Date.parse(date)
      const series = ['AAAUSDT', '-i', '1m', '--base-url', `binance:${exchange.url}`]
      expect(await lastOpenTime(exchange.now, ...series)).toBe(Date.parse('2026-05-20T01:00Z') - MINUTE)
    }
  })

  it('of the static service, whose list goes on for a year', async () => {
    const tree = makeTree(tempFolder())
    putFile(tree, 'api/klines/start-dates/15m.json', knownStartDates('15m'))
    for (let week = 0; week <= 52; week++) {
      const start = FIRST + week * WEEK
      putWeek(tree, 'BTCUSDT', start, [0, 1, 2, 3, 9, 17].includes(week) ? [candle(start)] : [])
    }
    const server = await TreeServer.start(tree)
    server.date = FIRST + 52 * WEEK
    const series = ['BTCUSDT', '-i', '15m', '--base-url', server.url]
    expect(await lastOpenTime(server.date, ...series)).toBe(FIRST + 17 * WEEK)
  })
})
