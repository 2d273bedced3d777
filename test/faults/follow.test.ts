import { describe, expect, it } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import { type FollowRequest, openFollow } from '../../src/engine/follow.js'
import { downloadKlines, klineRows } from '../../src/engine/klines.js'
import { cases } from '../support/cases.js'
import { catchError } from '../support/errors.js'
import { banned } from '../support/exchange/exchange-answers.js'
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
  /** How far the exchange's clock is ahead of this machine's, ms. */
  const skew = { ms: 0 }
  found.exchange.now = () => clock.now() + skew.ms
  const { now: _, ...request } = { ...found.request(), retries: 0, symbols: Object.keys(symbols) }
  /** Rows as `SYMBOL INTERVAL JSON` until `enough`; `seen` hears of each one, at its time. */
  async function follow(
    options: Omit<FollowRequest, 'symbols'>,
    enough: (lines: readonly string[]) => boolean,
    seen = (_: string) => {},
  ) {
    const lines: string[] = []
    const { batches } = await openFollow({ ...request, ...options }, { clock })
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
  async function exported(intervals: Interval[], from: number, to: number) {
    const lines: string[] = []
    const range = { from, to, as: 'arrays' as const, offline: true, now: clock.now() }
    for await (const { series, row } of klineRows({ ...request, intervals, ...range }))
      lines.push(`${series.symbol} ${series.interval} ${JSON.stringify(row)}`)
    return lines
  }
  return { ...found, clock, skew, market, request, follow, exported }
}

const timeOf = (line: string) => Number(/\[(\d+)/.exec(line)?.[1])
const seriesOf = (line: string) => line.split(' [')[0]
/** Each series in its order; they are not ordered among each other. */
const bySeries = (lines: readonly string[]) => lines.toSorted((a, b) => seriesOf(a).localeCompare(seriesOf(b)))

describe('candles of the exchange', () => {
  it.each([
    ['a day', Date.UTC(2026, 3, 28, 23, 30, 20)],
    ['a year', Date.UTC(2025, 11, 31, 23, 30, 20)],
  ])(
    'come once each, in order, 15 s after their close: history first, and over the end of %s',
    async (_name, start) => {
      const { follow, exported, clock, exchange } = await setup({ BTCUSDT: {}, ETHUSDT: {} }, start)
      const begun = clock.now()
      const late: number[] = []
      const lengths: Record<string, number> = { '1m': MINUTE, '15m': 15 * MINUTE, '1h': HOUR, '1d': DAY }
      const intervals = Object.keys(lengths) as Interval[]
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
    },
  )

  it('begin with the next one without a range, and take one call a close and series', async () => {
    // The times of answers are whole seconds, so the clock that goes on from them may go back.
    const { follow, exchange } = await setup({ BTCUSDT: {} }, START + 700)
    const lines = await follow({ intervals: ['1m'] }, all => all.length === 20)
    expect(lines.map(timeOf)).toEqual(Array.from({ length: 20 }, (_, index) => START - 20_000 + index * MINUTE))
    // At first the whole window, which is two calls of 1m.
    expect(exchange.log.filter(({ path }) => path.includes('/klines')).length).toBeLessThanOrEqual(20 + 3)
  })

  it.each(['3d', '1w', '1M'] as const)('%s: one as it closes', async interval => {
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
type Fault = (exchange: ExchangeServer, clock: FakeClock, skew: { ms: number }) => void
const klines = 'api/v3/klines'
const FAULTS: [string, boolean, Fault][] = [
  ['a page of HTML', true, exchange => exchange.script(klines, { body: '<html>' })],
  [
    '429 with half an hour',
    true,
    exchange => exchange.script(klines, { status: 429, headers: { 'retry-after': '1800' } }),
  ],
  ['418 with a time', true, exchange => exchange.script(klines, banned(Date.now() + 1000, 1))],
  ['500', true, exchange => exchange.script(klines, { status: 500 })],
  ['a lost connection', true, exchange => exchange.script(klines, (_, response) => response.destroy())],
  ['no row of the minute, which comes with the next one', false, exchange => exchange.script(klines, { body: '[]' })],
  [
    'another clock, an hour behind',
    false,
    (exchange, clock) =>
      exchange.script(klines, { headers: { date: new Date(clock.now() - HOUR).toUTCString() }, body: '[]' }),
  ],
  [
    'an answer that takes 40 s',
    false,
    (exchange, clock) => {
      exchange.hold = () => {
        exchange.hold = () => {}
        clock.jump(40_000)
      }
    },
  ],
  ['a machine that sleeps for two hours', false, (_, clock) => clock.jump(2 * HOUR)],
  ...[-1, 1].map((hours): [string, boolean, Fault] => [
    `a clock of this machine that is set by ${hours} h`,
    false,
    (_, clock, skew) => {
      clock.jump(hours * HOUR)
      skew.ms -= hours * HOUR
    },
  ]),
  [
    'a clock of the exchange that goes back by an hour',
    false,
    (_, _clock, skew) => {
      skew.ms -= HOUR
    },
  ],
]

describe('what goes wrong', () => {
  it.each(FAULTS)('F92 %s', async (_name, isSaid, fail) => {
    // The end of a pause is a time of this machine.
    const start = Date.now()
    const { follow, exported, exchange, clock, skew, warnings } = await setup(
      { BTCUSDT: { until: start + 9 * DAY } },
      start,
    )
    const from = start - 5 * MINUTE
    const lines = await follow({ intervals: ['1m'], from }, all => {
      if (all.length === 6) fail(exchange, clock, skew)
      return all.length >= 50 && warnings.some(text => text.includes('going on')) === isSaid
    })
    expect(lines).toEqual(await exported(['1m'], from, timeOf(lines[lines.length - 1]) + 1))
    const said = warnings.flatMap(text => /^[\dT:-]+Z: (waiting|going on)/.exec(text)?.[1] ?? [])
    expect(said).toEqual(isSaid ? ['waiting', 'going on'] : [])
  })

  it('F94 a window cannot be had, and those that follow wait for it', async () => {
    const { follow, exported, exchange, clock } = await setup({ BTCUSDT: {} })
    const [from, day] = [START - 5 * MINUTE, Date.UTC(2026, 3, 29)]
    let refused = 0
    const isOfDay = ({ kind, startTime = 0 }: ExchangeRequest) =>
      kind === 'klines' && startTime >= day && startTime < day + DAY && refused++ < 5
    exchange.always(isOfDay, { status: 500 })
    const lines = await follow({ intervals: ['1m'], from }, all => {
      if (all.length === 5) clock.jump(2 * DAY)
      return all.length > (2 * DAY) / MINUTE
    })
    expect(refused).toBeGreaterThan(5)
    expect(lines).toEqual(await exported(['1m'], from, timeOf(lines[lines.length - 1]) + 1))
  })

  it.each([
    ['451', 451, true],
    ['403', 403, true],
    ['a service that is not there at the start', 503, false],
  ])('F95 %s ends it', async (_name, status, hasBegun) => {
    const { follow, exchange } = await setup({ BTCUSDT: {} })
    const fail = () => exchange.always(() => true, { status })
    if (!hasBegun) fail()
    const error = await catchError(
      follow({ intervals: ['1m'] }, all => {
        if (all.length === 3) fail()
        return false
      }),
    )
    expect(error).toMatchObject({ code: 'unreachable' })
  })

  it('F96 two that follow on one mirror, and a download that asks for everything again, do not disturb each other', async () => {
    const { follow, exported, request, clock } = await setup({ BTCUSDT: {} })
    const from = START - 20 * MINUTE
    let isDone = false
    const download = async () => {
      while (!isDone) await downloadKlines({ ...request, intervals: ['1m'], from, refresh: true, now: clock.now() })
    }
    const both = Promise.all([1, 2].map(() => follow({ intervals: ['1m'], from }, all => all.length >= 60)))
    const done = both.finally(() => {
      isDone = true
    })
    const [[one, other]] = await Promise.all([done, download()])
    const expected = await exported(
      ['1m'],
      from,
      Math.max(...[one, other].map(lines => timeOf(lines[lines.length - 1]))) + 1,
    )
    expect([one, other]).toEqual([expected.slice(0, one.length), expected.slice(0, other.length)])
  })

  it.each([1, 2, 3, 4].slice(0, cases(4, 1)))(
    'F93 the network is lost, and the run is cut and begun again, at 50 moments: %i',
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

  it('F97 a candle that the exchange changes is named a day after the end of its window', async () => {
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

it('F98 what another process writes is followed without a request', async () => {
  const { follow, request, exported, clock } = await setup({ BTCUSDT: {} })
  const download = () => downloadKlines({ ...request, intervals: ['1m'], from: START - HOUR, now: clock.now() })
  await download()
  let [isDone, isLive, isSetBack] = [false, false, false]
  const writing = (async () => {
    while (!isDone) {
      await download()
      if (isLive && !isSetBack) clock.jump(-2 * MINUTE)
      isSetBack = isLive
    }
  })()
  const lines = await follow({ intervals: ['1m'], last: '10m', offline: true }, all => {
    isLive = all.length > 10
    return isSetBack && all.length >= 20
  })
  isDone = true
  await writing
  // It looks once a second, also by a clock that was set back.
  expect(Math.max(...clock.sleeps)).toBeLessThanOrEqual(1_000)
  expect(lines).toEqual(await exported(['1m'], START - 10 * MINUTE, timeOf(lines[lines.length - 1]) + 1))
})
