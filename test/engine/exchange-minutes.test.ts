import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { EXCHANGE_INTERVALS, INTERVALS, MINUTE_INTERVALS } from '../../src/candles/intervals.js'
import { downloadKlines } from '../../src/engine/download.js'
import { dryRun } from '../../src/engine/dry-run.js'
import type { KlinesEvent } from '../../src/engine/events.js'
import { exportKlines } from '../../src/engine/export.js'
import { publishMirror } from '../../src/engine/publish.js'
import { verifyKlines } from '../../src/verify/verify.js'
import { catchError } from '../support/errors.js'
import { onWindow } from '../support/events.js'
import { exchangeSetup, withMirror } from '../support/exchange/exchange-setup.js'
import { madeMarket } from '../support/exchange/made-market.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { ExchangeServer } from '../support/servers/exchange-server.js'
import { TreeServer } from '../support/servers/tree-server.js'

const [MINUTE, DAY] = [60_000, 86_400_000]
const TODAY = EXCHANGE_NOW - (EXCHANGE_NOW % DAY)
const toDate = (time: number) => new Date(time).toISOString().slice(0, 10)

/** Listed in the middle of a day, with two hours without trade on 20 April; its clock is 30 April 2026, 04:20. */
const MARKET = madeMarket(
  {
    TICKUSDT: {
      from: '2026-03-27T10:07Z',
      minutes: true,
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

async function setup() {
  return forSymbol(await exchangeSetup(MARKET))
}

function forSymbol(all: ReturnType<typeof withMirror>) {
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
    ['3m', '3m', 1, 480],
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
    ['has 999 closed candles', 999, 999, 1],
    ['has 1,000 closed candles', 1000, 1000, 1],
    ['has 1,001 closed candles', 1001, 1001, 2],
    ['is over', 1440, 1440, 2],
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

describe('a host that sends fewer rows than it was asked for', () => {
  it.each([
    ['1m', '1min', 500, ['00:00', '08:20', '16:40']],
    ['1m', '1min', 720, ['00:00', '12:00']],
    ['5m', '5m', 287, ['00:00', '23:55']],
    ['5m', '5m', 100, ['00:00', '08:20', '16:40']],
  ] as const)('has a whole day of %s too (%s, %i rows)', async (interval, segment, maxRows, starts) => {
    const { request, exchange, text } = await setup()
    exchange.maxRows = maxRows
    const range = { from: '2026-04-10', to: '2026-04-11' }
    const { series } = await downloadKlines({ ...request, intervals: [interval], ...range })
    expect(series).toMatchObject([{ gaps: 0 }])
    expect(text(`${segment}/${SYMBOL}/2026-04-10`)).toBe(JSON.stringify(expected(interval, range.from, range.to)))
    // Each request begins after the last row of the answer before it.
    const times = exchange.log.map(({ startTime = 0 }) => startTime).filter(time => time > 0)
    const lastRow = (page: number) => Date.parse(`2026-04-10T${starts[page]}Z`) - (interval === '1m' ? 1 : 5) * MINUTE
    expect(times).toEqual(starts.map((_, page) => (page === 0 ? Date.parse('2026-04-10') : lastRow(page) + 1)))
  })

  it('has what is closed of the present day', async () => {
    const { request, exchange, text } = await setup()
    exchange.maxRows = 100
    await downloadKlines({ ...request, intervals: ['1m'], from: toDate(TODAY) })
    const rows = expected('1m', TODAY)
    expect(rows.length).toBeGreaterThan(200)
    expect(text(`1min/${SYMBOL}/${toDate(TODAY)}`)).toBe(JSON.stringify(rows))
  })
})

describe('a day without candles', () => {
  it('is one request, and one whose candles end early has one more', async () => {
    const [first, last] = [Date.parse('2026-04-09T00:00Z'), Date.parse('2026-04-10T20:00Z')]
    const all = await exchangeSetup(madeMarket({ GONEUSDT: { from: first, until: last, minutes: true } }))
    const range = { from: '2026-04-10', to: '2026-04-13' }
    await downloadKlines({ ...all.request(), symbols: ['GONEUSDT'], intervals: ['3m'], ...range })
    expect(all.requests()).toEqual(['2026-04-10', '2026-04-10', '2026-04-11', '2026-04-12', 'first candle', 'time'])
  })
})

describe('a bad second half of a day', () => {
  it('is tried again, and never stored', async () => {
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
})

describe('a range', () => {
  it.each([
    ['of one minute', '2026-04-10T12:34', '2026-04-10T12:35', 1, 0],
    ['with an outage', '2026-04-20', '2026-04-21', 1320, 1],
    ['from before the listing, which is in the middle of a day', '2026-03-25', '2026-03-28', 833, 0],
  ])('%s', async (_, from, to, count, gaps) => {
    const { request, exported } = await setup()
    const { series } = await downloadKlines({ ...request, intervals: ['1m'], from, to })
    expect(series).toMatchObject([{ candles: count, gaps }])
    const rows = await exported({ from, to })
    expect(rows).toEqual(
      expected('1m', `${from}${from.includes('T') ? 'Z' : ''}`, `${to}${to.includes('T') ? 'Z' : ''}`),
    )
    expect(rows).toHaveLength(count)
  })
})

describe('the whole history of 1m', () => {
  /** A mirror with a file for each day since 2017, of a download that was stopped and resumed; made once, as that takes a while. */
  let whole: ReturnType<typeof forSymbol>
  /** The requests before and after the stop, and the days that had a file at the stop. */
  let run: { first: string[]; second: string[]; stored: string[] }

  beforeAll(async () => {
    whole = forSymbol(withMirror(await ExchangeServer.open(MARKET), mkdtempSync(join(tmpdir(), 'klines-whole-'))))
    const { request, requests, dates } = whole
    const stop = new AbortController()
    const onEvent = onWindow(({ done }) => done === 3205 && stop.abort())
    await catchError(downloadKlines({ ...request, intervals: ['1m'], signal: stop.signal, onEvent, concurrency: 1 }))
    const [first, stored] = [requests(), dates(`1min/${SYMBOL}`)]
    await downloadKlines({ ...request, intervals: ['1m'] })
    run = { first, second: requests(), stored }
  })
  afterAll(async () => {
    await whole.exchange.stop()
    rmSync(whole.folder, { recursive: true, force: true })
  })

  it('has files for the days before the listing, made without requests, and is resumed where it stopped', () => {
    const { dates, text } = whole
    const isOfDay = (name: string) => name.startsWith('2026')
    const [first, second] = [run.first.filter(isOfDay).length, run.second.filter(isOfDay)]
    const { stored } = run
    expect(stored.at(-1)?.slice(0, 4)).toBe('2026')
    expect(text(`1min/${SYMBOL}/2026-03-26`)).toBe('[]')
    // The day that ended less than a day ago is not final.
    expect(second).not.toContain(stored.at(-3))
    expect(first + second.length).toBeLessThan(2 * 35 + 4)
    const all = dates(`1min/${SYMBOL}`)
    expect([all[0], all.at(-1)]).toEqual(['2017-07-01', '2026-04-30'])
    const rows = all.flatMap(date => JSON.parse(text(`1min/${SYMBOL}/${date}`) ?? ''))
    expect(JSON.stringify(rows)).toBe(JSON.stringify(expected('1m', 0)))
  })

  it('counts its time down to 0, and no day before the listing, when the mirror has newer days', async () => {
    const { request: all, requests } = await setup()
    await downloadKlines({ ...all, intervals: ['1m'], from: '2026-04-25' })
    requests()
    const planned: number[] = []
    const left: number[] = []
    const request = { ...all, intervals: ['1m' as const], from: '2026-02-01' }
    await downloadKlines({
      ...request,
      onEvent: event => {
        if (event.type === 'plan') planned.push(event.limitMs)
        if ('window' in event) left.push(event.limitMs)
      },
    })
    // From 27 March to 24 April are 29 days, of 80 ms each.
    expect(planned).toEqual([29 * 80])
    expect(left.every((ms, index) => ms <= (left[index - 1] ?? planned[0]))).toBe(true)
    expect(left.at(-1)).toBe(0)
    expect(requests().filter(name => name === 'first candle')).toHaveLength(1)
    // Every day of the range before the listing has a file now.
    await downloadKlines(request)
    expect(requests()).not.toContain('first candle')
  })

  it('resampled to each of the twelve, to 3m and to 5m is what the exchange has', async () => {
    const { request, exported } = whole
    await downloadKlines({ ...request, intervals: ['3d'] })
    for (const [index, resample] of EXCHANGE_INTERVALS.slice(1).entries()) {
      // The 3,000 empty days before March are read once.
      const from = index === 0 ? undefined : '2026-03-01'
      expect(JSON.stringify(await exported({ resample, from })), resample).toBe(JSON.stringify(expected(resample, 0)))
    }
  })

  it('published as a tree names its days up to the download, and a client reads them', async () => {
    const { request, mirror, folder } = whole
    await downloadKlines({ ...request, intervals: [...MINUTE_INTERVALS], from: '2026-03-01' })
    const report = await publishMirror({ mirror, now: EXCHANGE_NOW })
    expect(report.intervals.filter(interval => interval !== '3d')).toEqual(['1m', '3m', '5m'])
    const dates = JSON.parse(readFileSync(join(mirror, 'api/klines/start-dates/1min.json'), 'utf8'))
    expect([dates[0], dates.at(-1)]).toEqual(['2017-07-01', toDate(EXCHANGE_NOW)])
    expect(dates).toHaveLength((TODAY - Date.UTC(2017, 6)) / DAY + 1)
    const server = await TreeServer.start(mirror)
    // A day later, the list of yesterday is still the right one.
    server.date = EXCHANGE_NOW + DAY
    const client = { baseUrl: server.url, mirror: join(folder, 'copy'), now: EXCHANGE_NOW + DAY, symbols: [SYMBOL] }
    const copy = await downloadKlines({ ...client, intervals: ['1m'], from: '2026-03-01' })
    expect(copy.series).toMatchObject([{ candles: expected('1m', 0).length }])
    const output = join(folder, 'copy.json')
    await exportKlines({ ...client, intervals: ['1m'], output, offline: true, from: '2026-04-01', to: '2026-04-30' })
    expect(JSON.parse(readFileSync(output, 'utf8'))).toEqual(expected('1m', '2026-04-01', '2026-04-30'))
    // Nothing is known about the days after the list.
    const later = { from: '2026-04-01', to: '2026-05-02', force: true }
    const error = await catchError(exportKlines({ ...client, intervals: ['1m'], output, offline: true, ...later }))
    expect(error).toMatchObject({ code: 'incomplete', message: expect.stringContaining('1m 2026-05-01') })
  })

  it('adds 38 pairs to the 60 that are compared', async () => {
    const { request, mirror } = await setup()
    await downloadKlines({ ...request, intervals: [...EXCHANGE_INTERVALS], from: '2026-03-01' })
    const report = await verifyKlines({ symbols: [SYMBOL], intervals: 'all', mirror, now: EXCHANGE_NOW })
    expect(report.differences).toEqual([])
    expect(report.pairs).toHaveLength(98)
    const minutes = report.pairs.filter(({ finer }) => finer === '1m')
    expect(minutes.map(({ interval }) => interval)).toEqual(EXCHANGE_INTERVALS.slice(1))
    expect(minutes.every(({ comparisons }) => comparisons > 0)).toBe(true)
    // Candles are confirmed by finer ones down to 1m.
    expect(report.series.filter(({ unverified }) => unverified > 0).map(({ interval }) => interval)).toEqual(['1m'])
  })
})

describe('all intervals', () => {
  it('are the twelve for a download, and what the mirror has for an export', async () => {
    const { request, mirror } = await setup()
    const range = { from: '2026-04-20', to: '2026-04-21' }
    const { series } = await downloadKlines({ ...request, intervals: 'all', ...range })
    expect(series.map(({ interval }) => interval)).toEqual([...INTERVALS])
    await downloadKlines({ ...request, intervals: ['5m'], ...range })
    const output = join(mirror, '..', '{interval}.csv')
    const report = await exportKlines({ ...request, intervals: 'all', ...range, offline: true, output })
    expect(report.series.map(({ interval }) => interval)).toEqual(['5m', ...INTERVALS])
  })
})

describe('1m from a static service', () => {
  it('is refused before any request for a candle, with what it has and who has more', async () => {
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

  it('is refused for the public one without a request', async () => {
    const { folder } = await setup()
    const error = await catchError(
      downloadKlines({ mirror: join(folder, 'public'), symbols: ['BTCUSDT'], intervals: ['3m'] }),
    )
    expect(error).toMatchObject({ code: 'unknown_interval', message: expect.stringContaining('has no 3m candles') })
  })
})

describe('very many requests', () => {
  /** Symbols with one candle of 1m each. */
  async function setupMany(listed: string, count = 9) {
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
    expect((await catchError(run)).message).toBe(String(9 * 3179 * 80))
    expect(new Set(requests())).toEqual(new Set(['first candle', 'time']))
    const planned = await dryRun(request)
    expect(planned).toMatchObject({ requests: 9 * 3179 * 2, limitMs: 9 * 3179 * 80 })
    expect(missing(planned)).toBe(9 * 3179)
    expect(missing(await dryRun({ ...request, from: '2020' }))).toBe(9 * 2312)
  })

  it('are not counted for days before the listing', async () => {
    const { missing, request } = await setupMany('2026-04-20T04:00Z', 2)
    expect(missing(await dryRun(request))).toBe(2 * 11)
    // Nor when the mirror has newer days.
    await downloadKlines({ ...request, from: '2026-04-20', to: '2026-04-21' })
    expect(missing(await dryRun(request))).toBe(2 * 10)
  })
})
