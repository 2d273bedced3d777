import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../src/engine/klines.js'
import { listSymbols } from '../../src/engine/lists.js'
import type { KlinesEvent } from '../../src/engine/run.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { publishMirror } from '../../src/server/publish.js'
import { catchError } from '../support/errors.js'
import { jsonAnswer, RESTRICTED, tooManyRequests } from '../support/exchange/exchange-answers.js'
import { exchangeSetup } from '../support/exchange/exchange-setup.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { putFile } from '../support/synthetic-tree.js'

const DAY = 86_400_000
const FIRST_CANDLE = 'api/v3/klines?symbol=BTCEUR&interval=1d&startTime=0'
const SERIES = { symbols: ['BTCEUR'], intervals: ['1d'] as const }

describe('one wrong answer for the first candle', () => {
  it('that is empty only costs requests', async () => {
    const { exchange, request, rows, requests } = await exchangeSetup()
    exchange.script(FIRST_CANDLE, jsonAnswer([]))
    const first = await downloadKlines({ ...request(), ...SERIES })
    const asked = requests()
    expect(asked.filter(name => name.startsWith('20'))).toHaveLength(first.series[0].windows.total)
    expect(rows('1d/BTCEUR/2024-01-01')[0][0]).toBe(Date.UTC(2024, 0, 3))
  })

  it('that is too late fails the windows before it, and stores none of them', async () => {
    const { exchange, request, dates } = await exchangeSetup()
    const late = await fetch(
      `${exchange.url}/api/v3/klines?symbol=BTCEUR&interval=1d&startTime=${Date.UTC(2026, 1, 1)}&limit=1`,
    )
    exchange.script(FIRST_CANDLE, jsonAnswer(await late.json()))
    const error = await catchError(downloadKlines({ ...request(), ...SERIES }))
    expect(error).toMatchObject({
      code: 'incomplete',
      message: expect.stringContaining('as the first candle, and has one of'),
    })
    expect(dates('1d/BTCEUR').filter(date => date < '2026')).toEqual([])
    // The next run gets it right.
    const report = await downloadKlines({ ...request(), ...SERIES })
    expect(new Date(report.series[0].firstOpenTime ?? 0).toISOString().slice(0, 10)).toBe('2024-01-03')
  })

  it('without a Date is a failed attempt', async () => {
    const { exchange, request } = await exchangeSetup()
    exchange.always('api/v3/', (_, response) => {
      response.sendDate = false
      response.removeHeader('date')
      response.end('[]')
    })
    const error = await catchError(downloadKlines({ ...request(), ...SERIES, retries: 0 }))
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining('no Date') })
  })
})

describe('a mirror that is to be published', () => {
  it('with a window that ended after its download is not complete', async () => {
    const { exchange, mirror, request } = await exchangeSetup()
    const month = { symbols: ['BTCEUR'], intervals: ['1h'] as const }
    exchange.now = Date.UTC(2026, 2, 10)
    await downloadKlines({ ...request(), ...month })
    exchange.now = EXCHANGE_NOW
    await downloadKlines({ ...request(), ...month, from: '2026-04' })
    const error = await catchError(publishMirror({ mirror, now: EXCHANGE_NOW }))
    expect(error).toMatchObject({ code: 'incomplete', data: { failures: [{ startDate: '2026-03-01' }] } })
    await downloadKlines({ ...request(), ...month })
    expect((await publishMirror({ mirror, now: EXCHANGE_NOW })).symbols).toEqual(['BTCEUR'])
  })

  it('is refused by a clock that is behind its candles', async () => {
    const { mirror, request } = await exchangeSetup()
    await downloadKlines({ ...request(), ...SERIES })
    const error = await catchError(publishMirror({ mirror, now: EXCHANGE_NOW - 40 * DAY }))
    expect(error).toMatchObject({ code: 'incomplete', message: expect.stringContaining("This machine's clock says") })
  })

  it('ends with the refusal of the exchange', async () => {
    const { exchange, mirror, request } = await exchangeSetup()
    await downloadKlines({ ...request(), ...SERIES, from: '2026' })
    exchange.always('api/v3/', RESTRICTED)
    const error = await catchError(publishMirror({ mirror, now: EXCHANGE_NOW }))
    expect(error).toMatchObject({ code: 'unreachable', data: { status: 451 } })
  })
})

it('a damaged list of symbols is published as that of what the mirror has', async () => {
  const { mirror, request } = await exchangeSetup()
  await downloadKlines({ ...request(), ...SERIES })
  putFile(mirror, 'api/klines/symbols.json', 'garbage')
  await publishMirror({ mirror, now: EXCHANGE_NOW })
  expect(new Mirror(mirror).listedSymbols()).toEqual(['BTCEUR'])
})

it('lists that are only shown fail when the exchange refuses, or when nothing is known of it', async () => {
  const { exchange, request } = await exchangeSetup()
  exchange.always('api/v3/', RESTRICTED)
  expect(await catchError(listSymbols(request()))).toMatchObject({ data: { status: 451 } })
  const options = request()
  await exchange.stop()
  expect(await catchError(listSymbols(options))).toMatchObject({ code: 'unreachable' })
})

it('429 is named as what it is, whatever says how long to wait', async () => {
  const { exchange, request } = await exchangeSetup()
  exchange.script(FIRST_CANDLE, tooManyRequests())
  const end = new AbortController()
  const reasons = new Set<string | undefined>()
  const onEvent = (event: KlinesEvent) => {
    if (event.type !== 'network') return
    reasons.add(event.pauseReason)
    if (event.pauseReason !== undefined) end.abort(new Error('enough'))
  }
  await catchError(downloadKlines({ ...request(), ...SERIES, onEvent, signal: end.signal }))
  expect([...reasons].filter(Boolean)).toEqual(['rate limited'])
})
