import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { INTERVALS } from '../../src/candles/intervals.js'
import { dryRun, exportKlines } from '../../src/engine/export.js'
import { downloadKlines } from '../../src/engine/klines.js'
import type { KlinesEvent } from '../../src/engine/run.js'
import { publishMirror } from '../../src/server/publish.js'
import { catchError } from '../support/errors.js'
import { onWindow } from '../support/events.js'
import { exchangeSetup } from '../support/exchange/exchange-setup.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { TreeServer } from '../support/servers/tree-server.js'

const [MINUTE, DAY] = [60_000, 86_400_000]
const TODAY = EXCHANGE_NOW - (EXCHANGE_NOW % DAY)
const toDate = (time: number) => new Date(time).toISOString().slice(0, 10)

/** Listed in the middle of a day, with two hours without trade on 20 April; its clock is 30 April 2026, 04:20. */
const MARKET = madeMarket(
  {
    TICKUSDT: {
      from: '2026-03-27T10:07Z',
      minutes: 1,
      without: [['2026-04-20T02:00Z', '2026-04-20T04:00Z']],
    },
  },
  { until: '2026-05-05T00:00Z' },
)
const SYMBOL = 'TICKUSDT'
/** The candles of the exchange in a range, those that are open at its clock left out. */
const expected = (interval: string, from: number | string, to: number | string = EXCHANGE_NOW) => {
  const [start, end] = [from, to].map(time => new Date(time).getTime())
  const rows = MARKET.rows(SYMBOL, interval) as readonly KlineRow[]
  return rows.filter(([openTime, , , , , , closeTime]) => {
    return openTime >= start && openTime < end && closeTime + 15_001 <= EXCHANGE_NOW
  })
}

async function setup(market = MARKET) {
  const all = await exchangeSetup(market)
  const request = { ...all.request(), symbols: [SYMBOL] }
  const exported = async (options: Partial<Parameters<typeof exportKlines>[0]>) => {
    const output = join(all.folder, 'out.json')
    await exportKlines({ ...request, intervals: ['1m'], output, force: true, offline: true, ...options })
    return JSON.parse(readFileSync(output, 'utf8')) as KlineRow[]
  }
  return { ...all, request, exported }
}

describe('a day of', () => {
  it.each([
    ['1m', '1min', 2, 1440],
    ['5m', '5m', 1, 288],
  ] as const)('%s is one file below %s, with %i requests and %i candles', async (interval, segment, calls, count) => {
    const { request, exchange, text, requests } = await setup()
    const range = { from: '2026-04-10', to: '2026-04-11' }
    const { series } = await downloadKlines({ ...request, intervals: [interval], ...range })
    expect(requests()).toEqual([
      ...Array(1).fill('2026-04-10'),
      ...Array(calls - 1).fill('2026-04-10'),
      'first candle',
      'time',
    ])
    expect(series).toMatchObject([{ interval, candles: count, gaps: 0, windows: { total: 1, fetched: 1 } }])
    const rows = expected(interval, '2026-04-10', '2026-04-11')
    expect(rows).toHaveLength(count)
    expect(text(`${segment}/${SYMBOL}/2026-04-10`)).toBe(JSON.stringify(rows))
    // It ended long ago, so it is final.
    await downloadKlines({ ...request, intervals: [interval], ...range })
    expect(requests()).toEqual([])
    expect(exchange.violations).toEqual([])
  })

  it.each([
    ['has begun', 0, 0, 1],
    ['has 1,000 closed candles', 1000, 1000, 1],
    ['has 1,001 closed candles', 1001, 1001, 2],
  ])('1m that %s', async (_, minutes, count, calls) => {
    const { request, exchange, text, requests } = await setup()
    // Candles are closed 15 s after their end; the candle of the present is in the answers too.
    exchange.now = TODAY + minutes * MINUTE + 20_000
    const range = { from: toDate(TODAY), to: toDate(TODAY + DAY), now: exchange.time }
    const report = downloadKlines({ ...request, intervals: ['1m'], ...range })
    if (count === 0) expect(await catchError(report)).toMatchObject({ code: 'no_candles' })
    else await report
    expect(requests().filter(name => name === toDate(TODAY) || name.startsWith('2026'))).toHaveLength(calls)
    const rows = JSON.parse(text(`1min/${SYMBOL}/${toDate(TODAY)}`) ?? 'null')
    expect(rows).toEqual((MARKET.rows(SYMBOL, '1m') ?? []).filter(([time]) => time >= TODAY).slice(0, count))
  })
})

it('a host that sends fewer rows than it was asked for has a whole day of 1m too', async () => {
  const { request, exchange, text } = await setup()
  exchange.maxRows = 500
  const range = { from: '2026-04-10', to: '2026-04-11' }
  const { series } = await downloadKlines({ ...request, intervals: ['1m'], ...range })
  expect(series).toMatchObject([{ gaps: 0 }])
  expect(text(`1min/${SYMBOL}/2026-04-10`)).toBe(JSON.stringify(expected('1m', range.from, range.to)))
  // Each request begins after the last row of the answer before it.
  const times = exchange.log.map(({ startTime = 0 }) => startTime).filter(time => time > 0)
  const starts = ['00:00', '08:20', '16:40'].map(start => Date.parse(`2026-04-10T${start}Z`))
  expect(times).toEqual(starts.map((start, page) => (page === 0 ? start : start - MINUTE + 1)))
})

it('a day without candles is one request, and one whose candles end early has one more', async () => {
  const [first, last] = [Date.parse('2026-04-09T00:00Z'), Date.parse('2026-04-10T20:00Z')]
  const all = await exchangeSetup(madeMarket({ GONEUSDT: { from: first, until: last, minutes: 1 } }))
  const range = { from: '2026-04-10', to: '2026-04-13' }
  await downloadKlines({ ...all.request(), symbols: ['GONEUSDT'], intervals: ['3m'], ...range })
  expect(all.requests()).toEqual(['2026-04-10', '2026-04-10', '2026-04-11', '2026-04-12', 'first candle', 'time'])
})

it('a bad second half of a day is tried again, and never stored', async () => {
  const { request, exchange, text } = await setup()
  const rows = expected('1m', '2026-04-10', '2026-04-11')
  const isSecond = ({ startTime = 0 }) => startTime > Date.parse('2026-04-10')
  const answer = (body: readonly unknown[]) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  // Rows that the first answer had, and none in the right place.
  exchange.script(isSecond, answer(rows.slice(990)), answer(rows.slice(0, 440)))
  await downloadKlines({ ...request, intervals: ['1m'], from: '2026-04-10', to: '2026-04-11' })
  expect(text(`1min/${SYMBOL}/2026-04-10`)).toBe(JSON.stringify(rows))
})

it.each([
  ['with an outage', '2026-04-20', '2026-04-21', 1320, 1],
  ['from before the listing, which is in the middle of a day', '2026-03-25', '2026-03-28', 833, 0],
])('a range %s', async (_, from, to, count, gaps) => {
  const { request, exported } = await setup()
  const { series } = await downloadKlines({ ...request, intervals: ['1m'], from, to })
  expect(series).toMatchObject([{ candles: count, gaps }])
  const rows = await exported({ from, to })
  expect(rows).toEqual(expected('1m', `${from}${from.includes('T') ? 'Z' : ''}`, `${to}${to.includes('T') ? 'Z' : ''}`))
  expect(rows).toHaveLength(count)
})

describe('the history of 1m', () => {
  it('has files for the days before the listing, made without requests, and is resumed where it stopped', async () => {
    const { request, requests, dates, text } = await setup()
    const range = { intervals: ['1m'] as const, from: '2026-03-01' }
    const stop = new AbortController()
    const onEvent = onWindow(({ done }) => done === 45 && stop.abort())
    await catchError(downloadKlines({ ...request, ...range, signal: stop.signal, onEvent, concurrency: 1 }))
    const isOfDay = (name: string) => name.startsWith('2026')
    const [first, stored] = [requests().filter(isOfDay), dates(`1min/${SYMBOL}`)]
    expect(text(`1min/${SYMBOL}/2026-03-26`)).toBe('[]')
    expect(first.filter(name => name < '2026-03-27')).toEqual([])
    await downloadKlines({ ...request, ...range })
    const second = requests().filter(isOfDay)
    expect(second).not.toContain(stored.at(-3))
    expect(first.length + second.length).toBeLessThan(2 * 35 + 4)
    const all = dates(`1min/${SYMBOL}`)
    expect([all[0], all.at(-1)]).toEqual(['2026-03-01', '2026-04-30'])
    const rows = all.flatMap(date => JSON.parse(text(`1min/${SYMBOL}/${date}`) ?? ''))
    expect(JSON.stringify(rows)).toBe(JSON.stringify(expected('1m', 0)))
  })

  it('says its time, and counts no day before the listing, when the mirror has newer days', async () => {
    const { request: all, requests } = await setup()
    await downloadKlines({ ...all, intervals: ['1m'], from: '2026-04-25' })
    requests()
    const planned: number[] = []
    const request = { ...all, intervals: ['1m' as const], from: '2026-02-01' }
    await downloadKlines({
      ...request,
      onEvent: event => {
        if (event.type === 'plan') planned.push(event.limitMs)
      },
    })
    // From 27 March to 24 April are 29 days, of 80 ms each.
    expect(planned).toEqual([29 * 80])
    expect(requests().filter(name => name === 'first candle')).toHaveLength(1)
    // Every day of the range before the listing has a file now.
    await downloadKlines(request)
    expect(requests()).not.toContain('first candle')
  })

  it('resampled to others is what the exchange has', async () => {
    const { request, exported } = await setup()
    await downloadKlines({ ...request, intervals: ['1m'], from: '2026-04-20' })
    for (const resample of ['3m', '15m', '4h', '1d', '1w'])
      expect(JSON.stringify(await exported({ resample, from: '2026-04-20' })), resample).toBe(
        JSON.stringify(expected(resample, '2026-04-20')),
      )
  })
})

it('all intervals are the twelve for a download, and what the mirror has for an export', async () => {
  const { request, mirror } = await setup(madeMarket({ [SYMBOL]: { from: '2026-03-27T10:15Z', minutes: 5 } }))
  const range = { from: '2026-04-20', to: '2026-04-21' }
  const { series } = await downloadKlines({ ...request, intervals: 'all', ...range })
  expect(series.map(({ interval }) => interval)).toEqual([...INTERVALS])
  await downloadKlines({ ...request, intervals: ['5m'], ...range })
  const output = join(mirror, '..', '{interval}.csv')
  const report = await exportKlines({ ...request, intervals: 'all', ...range, offline: true, output })
  expect(report.series.map(({ interval }) => interval)).toEqual(['5m', ...INTERVALS])
})

it('1m from a static service is refused before any request for a candle, with what it has and who has more', async () => {
  const { request, mirror, folder } = await setup()
  await downloadKlines({ ...request, intervals: ['1d'] })
  await publishMirror({ mirror, now: EXCHANGE_NOW })
  const server = await TreeServer.start(mirror)
  const client = { baseUrl: server.url, mirror: join(folder, 'copy'), now: EXCHANGE_NOW, symbols: [SYMBOL] }
  const error = await catchError(downloadKlines({ ...client, intervals: ['1m'] }))
  expect(error).toMatchObject({
    code: 'unknown_interval',
    message: `The static klines service at ${server.url} has no 1m candles. Expected one of ${INTERVALS.join(', ')}.`,
    suggestions: ['The exchange has 1m, 3m and 5m: --base-url binance.', 'Did you mean 1M (a month)?'],
  })
  expect(server.paths('windows')).toEqual([])
  await downloadKlines({ ...client, intervals: ['1d'] })
  const offline = exportKlines({ ...client, intervals: ['5m'], output: join(folder, 'x.csv'), offline: true })
  expect(await catchError(offline)).toMatchObject({
    code: 'unknown_interval',
    message: expect.stringMatching(/^The mirror .* has no 5m candles\. Expected one of /),
  })
})

describe('very many requests', () => {
  /** Symbols with one candle of 1m each. */
  async function setupMany(listed: string, count = 2) {
    const openTime = Date.parse(listed)
    const row = ['1.0', '1.0', '1.0', '1.0', '1.0', openTime + MINUTE - 1, '1.0', 1, '0.5', '0.5', '0'] as const
    const symbols = Array.from({ length: count }, (_, index) => `MANY${index}USDT`)
    const rows = { '1m': [[openTime, ...row] as unknown as KlineRow] }
    const all = await exchangeSetup(madeMarket(Object.fromEntries(symbols.map(symbol => [symbol, { rows }]))))
    const request = { ...all.request(), symbols, intervals: ['1m' as const] }
    /** The number of windows that a run would download. */
    const missing = ({ series }: Awaited<ReturnType<typeof dryRun>>) =>
      series.reduce((sum, { windows }) => sum + windows.missing, 0)
    return { ...all, request, missing }
  }

  it('are counted, with their minutes, before the first window is requested', async () => {
    const { request, requests, missing } = await setupMany('2017-08-17T04:00Z')
    const stop = (event: KlinesEvent) => {
      if (event.type === 'plan') throw new Error(String(event.limitMs))
    }
    const run = downloadKlines({ ...request, onEvent: stop })
    // From 2017-08-17 to 2026-04-30 are 3,179 days, of 80 ms each.
    expect((await catchError(run)).message).toBe(String(2 * 3179 * 80))
    expect(new Set(requests())).toEqual(new Set(['first candle', 'time']))
    const planned = await dryRun(request)
    expect(planned).toMatchObject({ requests: 2 * 3179 * 2, limitMs: 2 * 3179 * 80 })
    expect(missing(planned)).toBe(2 * 3179)
    expect(missing(await dryRun({ ...request, from: '2020' }))).toBe(2 * 2312)
  })
})
