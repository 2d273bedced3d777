import { describe, expect, it } from 'vitest'
import { type FollowRequest, openFollow } from '../../src/engine/follow.js'
import { downloadKlines, klineRows } from '../../src/engine/klines.js'
import { cases } from '../support/cases.js'
import { catchError } from '../support/errors.js'
import type { ExchangeRequest } from '../support/exchange/exchange-request.js'
import { exchangeSetup } from '../support/exchange/exchange-setup.js'
import { type MadeSymbol, madeMarket } from '../support/exchange/made-market.js'
import { FakeClock } from '../support/fake-clock.js'
import { Random } from '../support/random.js'
import type { ExchangeServer } from '../support/servers/exchange-server.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.UTC(2026, 3, 28, 22, 10, 20)

const iso = (time: number) => new Date(time).toISOString().slice(0, 16)

/** An exchange whose clock is the one of the follower: a wait takes no time. */
async function setup(symbols: Record<string, MadeSymbol> = { BTCUSDT: {}, ETHUSDT: {} }, start = START) {
  const made = Object.entries(symbols).map(([name, one]) => [
    name,
    { from: start - (start % DAY) - 2 * DAY, until: start + 90 * DAY, minutes: 1, ...one },
  ])
  const market = madeMarket(Object.fromEntries(made))
  const found = await exchangeSetup(market)
  const clock = new FakeClock(start)
  found.exchange.now = () => clock.now()
  const { now: _, ...request } = { ...found.request(), retries: 0, symbols: Object.keys(symbols) }
  /** Rows as `SYMBOL INTERVAL JSON` until `enough`; `seen` hears of each one, at its time. */
  async function follow(
    options: Omit<FollowRequest, 'symbols'>,
    enough: (lines: readonly string[]) => boolean,
    seen = (_: string) => {},
  ) {
    const lines: string[] = []
    const { batches } = await openFollow({ ...request, ...options }, clock)
    for await (const batch of batches) {
      for (let row = 0; row < batch.length; row++) {
        lines.push(`${batch.series.symbol} ${batch.series.interval} ${JSON.stringify(batch.row(row))}`)
        seen(lines[lines.length - 1])
      }
      if (enough(lines)) break
    }
    return lines
  }
  /** What an export of the range has of the mirror, series by series. */
  async function exported(intervals: string[], from: number, to: number) {
    const lines: string[] = []
    const range = { from, to, as: 'arrays' as const, offline: true }
    for await (const { series, row } of klineRows({ ...request, intervals, ...range }))
      lines.push(`${series.symbol} ${series.interval} ${JSON.stringify(row)}`)
    return lines
  }
  return { ...found, clock, market, request, follow, exported }
}

const timeOf = (line: string) => Number(/\[(\d+)/.exec(line)?.[1])
const seriesOf = (line: string) => line.split(' [')[0]
/** Each series in its order; they are not ordered among each other. */
const bySeries = (lines: readonly string[]) => lines.toSorted((a, b) => seriesOf(a).localeCompare(seriesOf(b)))

describe('candles of the exchange', () => {
  it('come once each, in order, 15 s after their close: history first, and over the end of windows', async () => {
    const { follow, exported, clock, exchange } = await setup(
      { BTCUSDT: {}, ETHUSDT: {} },
      Date.UTC(2026, 3, 28, 23, 30, 20),
    )
    const begun = clock.now()
    const late: number[] = []
    const lengths: Record<string, number> = { '1m': MINUTE, '15m': 15 * MINUTE, '1h': HOUR }
    const intervals = Object.keys(lengths)
    const lines = await follow(
      { intervals, last: '2h' },
      () => clock.now() > begun + HOUR,
      line => {
        if (clock.now() > begun) late.push(clock.now() - timeOf(line) - lengths[seriesOf(line).split(' ')[1]])
      },
    )
    // The last round is left in its middle.
    const isOver = (line: string) => timeOf(line) < begun
    const expected = await exported(intervals, begun - 2 * HOUR, clock.now())
    expect(bySeries(lines).filter(isOver)).toEqual(bySeries(expected).filter(isOver))
    expect(new Set(lines).size).toBe(lines.length)
    expect(Math.min(...late)).toBeGreaterThanOrEqual(15_000)
    expect(Math.max(...late)).toBeLessThan(25_000)
    expect(exchange.violations).toEqual([])
  })

  it('begin with the next one without a range, and take one call a close and series', async () => {
    const { follow, exchange } = await setup({ BTCUSDT: {} })
    const lines = await follow({ intervals: ['1m'] }, all => all.length === 20)
    expect(lines.map(timeOf)).toEqual(Array.from({ length: 20 }, (_, index) => START - 20_000 + index * MINUTE))
    // At first the whole window, which is two calls of 1m.
    expect(exchange.log.filter(({ path }) => path.includes('/klines')).length).toBeLessThanOrEqual(20 + 3)
  })

  it.each(['3d', '1w', '1M'])('%s: one as it closes', async interval => {
    const { follow, exported, clock } = await setup({ BTCUSDT: { from: '2026-01-01T00:00Z', minutes: 15 } })
    const lines = await follow({ intervals: [interval], from: '2026-01' }, () => clock.now() > START + 2 * DAY)
    expect(lines).toEqual(await exported([interval], Date.UTC(2026, 0), clock.now()))
    expect(clock.now() - timeOf(lines[lines.length - 1])).toBeGreaterThan(2 * DAY)
  })

  it('are refused for more than 100 series', async () => {
    const symbols = Object.fromEntries(
      Array.from({ length: 51 }, (_, index) => [`S${index}USDT`, { from: START - (START % HOUR) }]),
    )
    const { request } = await setup(symbols)
    const error = await catchError(openFollow({ ...request, intervals: ['1m', '1h'] }))
    expect(error).toMatchObject({ code: 'bad_option', message: expect.stringContaining('102 series') })
  })
})

/** What the exchange does for one call of a live minute, and whether the user hears that it waits. */
type Fault = (exchange: ExchangeServer, clock: FakeClock) => void
const klines = 'api/v3/klines'
const FAULTS: [string, boolean, Fault][] = [
  ['a page of HTML', true, exchange => exchange.script(klines, { body: '<html>' })],
  [
    '429 with half an hour',
    true,
    exchange => exchange.script(klines, { status: 429, headers: { 'retry-after': '1800' } }),
  ],
  ['500', true, exchange => exchange.script(klines, { status: 500 })],
  ['a lost connection', true, exchange => exchange.script(klines, (_, response) => response.destroy())],
  ['no row of the minute, which comes with the next one', false, exchange => exchange.script(klines, { body: '[]' })],
  [
    'another clock, an hour behind',
    false,
    (exchange, clock) =>
      exchange.script(klines, { headers: { date: new Date(clock.now() - HOUR).toUTCString() }, body: '[]' }),
  ],
  ['a machine that sleeps for two hours', false, (_, clock) => clock.jump(2 * HOUR)],
]

describe('what goes wrong', () => {
  it.each(FAULTS)('%s', async (_name, isSaid, fail) => {
    // The end of a pause is a time of this machine.
    const start = Date.now()
    const { follow, exported, exchange, clock, warnings } = await setup({ BTCUSDT: { until: start + DAY } }, start)
    const from = start - 5 * MINUTE
    const lines = await follow({ intervals: ['1m'], from }, all => {
      if (all.length === 6) fail(exchange, clock)
      return all.length >= 50
    })
    expect(lines).toEqual(await exported(['1m'], from, timeOf(lines[lines.length - 1]) + 1))
    const said = warnings.flatMap(text => /^[\dT:-]+Z: (waiting|going on)/.exec(text)?.[1] ?? [])
    expect(said).toEqual(isSaid ? ['waiting', 'going on'] : [])
  })

  it.each([1, 2, 3, 4].slice(0, cases(4, 1)))(
    'the network is lost, and the run is cut and begun again, at 50 moments: %i',
    async seed => {
      const { follow, exported, exchange } = await setup({ BTCUSDT: {} })
      const random = new Random(seed)
      let lost = 0
      exchange.always(
        () => lost-- > 0,
        (_request, response) => response.destroy(),
      )
      const lines: string[] = []
      let from = START - 20 * MINUTE
      for (let cut = 0; cut < 50; cut++) {
        const count = 1 + random.below(20)
        const part = await follow({ intervals: ['1m'], from }, all => {
          lost = random.below(3) === 0 ? random.below(4) : 0
          return all.length >= count
        })
        lost = 0
        lines.push(...part)
        from = timeOf(lines[lines.length - 1]) + 1
      }
      expect(lines).toEqual(await exported(['1m'], START - 20 * MINUTE, from))
    },
  )

  it('a minute without a trade has no candle, and the next one comes in order', async () => {
    const without = [['2026-04-28T22:12Z', '2026-04-28T22:15Z']] as const
    const { follow } = await setup({ BTCUSDT: { without } })
    const lines = await follow({ intervals: ['1m'] }, all => all.length === 3)
    expect(lines.map(line => iso(timeOf(line)).slice(11))).toEqual(['22:10', '22:11', '22:15'])
  })

  it('a candle that the exchange changes is named a day after the end of its window', async () => {
    const { follow, exchange, clock, warnings, market } = await setup({ BTCUSDT: {} }, Date.UTC(2026, 3, 28, 23, 50))
    const [day, end] = [Date.UTC(2026, 3, 28), Date.UTC(2026, 3, 29)]
    const rows = (market.rows('BTCUSDT', '1m') ?? []).filter(([time]) => time >= day && time < end).slice(0, 1000)
    const changed = rows.map((row, index) => (index === 600 ? row.with(5, '1.00000000') : row))
    const isLate = ({ kind, startTime }: ExchangeRequest) =>
      kind === 'klines' && startTime === day && clock.now() >= end + DAY
    exchange.always(isLate, { body: JSON.stringify(changed) })
    await follow({ intervals: ['1m'], from: day }, () => {
      clock.jump(HOUR)
      return warnings.length > 0 || clock.now() > end + DAY + HOUR
    })
    expect(warnings).toEqual([
      expect.stringMatching(/^BTCUSDT 1m 2026-04-28: 1 cell .*: volume of 2026-04-28 10:00 was .* and is 1.00000000/),
    ])
  })
})

it('what another process writes is followed without a request', async () => {
  const { follow, request, exported, clock } = await setup({ BTCUSDT: {} })
  const download = () => downloadKlines({ ...request, intervals: ['1m'], from: START - HOUR, now: clock.now() })
  await download()
  let isDone = false
  const writing = (async () => {
    while (!isDone) await download()
  })()
  const lines = await follow({ intervals: ['1m'], last: '10m', offline: true }, all => all.length >= 15)
  isDone = true
  await writing
  expect(lines).toEqual(await exported(['1m'], START - 10 * MINUTE, timeOf(lines[lines.length - 1]) + 1))
})
