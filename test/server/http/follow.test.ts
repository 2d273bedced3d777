import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { KlineRow } from '../../../src/candles/columns.js'
import { downloadKlines } from '../../../src/engine/klines.js'
import type { ExchangeRequest } from '../../support/exchange/exchange-request.js'
import { SAMPLE_TREE, sampleRows } from '../../support/sample-tree.js'
import { DAY, followSetup, HOUR, MINUTE, QUICK, START } from '../../support/servers/follow-setup.js'
import { parseErrorObject, startTestServer, useServerOver } from '../../support/servers/test-server.js'
import { expectErrorObject } from '../../support/servers/upstream-checks.js'

const PATH = '/follow/1m/BTCUSDT'

/** Somebody who reads a stream: its head, and its events as they come. */
async function listen(url: string, headers: Record<string, string> = {}) {
  const outgoing = request(url, { headers }).end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  onTestFinished(() => void response.destroy())
  const events: Record<string, string>[] = []
  let text = ''
  let comments = 0
  response.on('error', () => {})
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const blocks = (text + chunk).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = block.split('\n').map(line => line.split(/: ?(.*)/s))
      if (fields[0][0] === '') comments++
      else events.push(Object.fromEntries(fields.map(([name, value]) => [name, value])))
    }
  })
  const rows = (event = 'candle'): KlineRow[] =>
    events.filter(one => one.event === event).map(({ data }) => JSON.parse(data))
  const ended = new Promise<void>(resolve => response.on('close', resolve))
  const reader = { response, outgoing, events, rows, ended, comments: () => comments }
  /** Waits until it has so many candles. */
  const has = (count: number) => expect.poll(() => rows().length, { interval: 5 }).toBeGreaterThanOrEqual(count)
  return { ...reader, has }
}

/** Waits until a look has begun after the first one: the clock must not move while an answer is on its way. Takes 30 s of it. */
async function settle({ comments }: { comments(): number }, clock: { time: number }): Promise<void> {
  for (const _ of [1, 2]) {
    const before = comments()
    clock.time += 15_000
    await expect.poll(comments, { interval: 5 }).toBeGreaterThan(before)
  }
}

/** When the candle opens that closes next. */
const NEXT = START - (START % MINUTE)

describe('candles as server-sent events', () => {
  it('come as they close, after those of a range, and over the end of a window; twenty readers cost one call a close', async () => {
    const start = Date.UTC(2026, 3, 28, 23, 55, 16)
    const { url, clock, calls, rowsOf, request } = await followSetup()
    clock.time = start
    const first = start - (start % MINUTE) - 5 * MINUTE
    const readers = await Promise.all(Array.from({ length: 20 }, () => listen(`${url}${PATH}?from=${first}`)))
    for (const reader of readers) await reader.has(5)
    await settle(readers[0], clock)
    const before = calls().length
    for (let closed = 1; closed <= 10; closed++) {
      clock.time += MINUTE
      for (const reader of readers) await reader.has(5 + closed)
      // As the viewer does.
      await request(`api/klines/1min/BTCUSDT/${new Date(clock.time).toISOString().slice(0, 10)}.json`)
    }
    for (const { rows } of readers) expect(rows()).toEqual(rowsOf(first, first + 15 * MINUTE))
    // The new window is asked for as a whole once, and the old one until it is over.
    expect(calls().length - before).toBeLessThanOrEqual(10 + 3)
    const [{ response, events }] = readers
    expect([response.headers['cache-control'], response.headers['content-encoding']]).toEqual(['no-store', undefined])
    expect(events.slice(0, 2)).toEqual([
      { retry: '5000' },
      { id: String(first), event: 'candle', data: JSON.stringify(rowsOf(first, start)[0]) },
    ])
  })

  const ago = (minutes: number) => NEXT - minutes * MINUTE
  const LISTED = START - (START % DAY) - 2 * DAY
  it.each<[string, string, Record<string, string>, number]>([
    ['from now on', '', {}, NEXT],
    ['?from=', `?from=${ago(3)}`, {}, ago(3)],
    ['Last-Event-ID, before ?from=', `?from=${ago(9)}`, { 'last-event-id': String(ago(3)) }, ago(2)],
    ['an id that is no open time', '', { 'last-event-id': String(ago(3) - 1) }, ago(3)],
    ['an id of the future', '', { 'last-event-id': String(ago(-1)) }, ago(-2)],
    ['?from= of the future', `?from=${ago(-2)}`, {}, ago(-2)],
    ['an id before the history', '', { 'last-event-id': '1' }, LISTED],
    ['?from= before the exchange', '?from=2011', {}, LISTED],
  ])('begin where they are wanted: %s', async (_, query, headers, from) => {
    const { url, clock, rowsOf } = await followSetup()
    const reader = await listen(`${url}${PATH}${query}`, headers)
    await reader.has(rowsOf(from, NEXT).length)
    await settle(reader, clock)
    for (let minute = 1; minute <= 4; minute++) {
      // Each round is seen to end by another reader.
      const other = await listen(`${url}${PATH}`)
      clock.time += MINUTE
      await other.has(1)
    }
    const expected = rowsOf(from, ago(-4))
    await reader.has(expected.length)
    expect(reader.rows()).toEqual(expected)
  })

  it('come from the mirror alone as another process writes them; a hole ends the stream, and is an error then', async () => {
    const { exchange, baseUrl, mirror, clock, rowsOf } = await followSetup()
    const download = (from: number) =>
      downloadKlines({ baseUrl, mirror, symbols: ['BTCUSDT'], intervals: ['1m'], from, now: clock.time })
    await download(START - HOUR)
    const { url } = await startTestServer(mirror, { now: () => clock.time, limits: QUICK })
    const reader = await listen(`${url}${PATH}?from=${NEXT - MINUTE}`)
    await reader.has(1)
    clock.time += 5 * MINUTE
    await download(START)
    await reader.has(6)
    expect(reader.rows()).toEqual(rowsOf(NEXT - MINUTE, NEXT + 5 * MINUTE))
    await download(START - 2 * DAY)
    rmSync(join(mirror, 'api/klines/1min/BTCUSDT/2026-04-27.json'))
    const late = await listen(`${url}${PATH}?from=2026-04-26`)
    await late.ended
    const { id } = late.events[late.events.length - 1]
    expect(late.rows()).toEqual(rowsOf(Date.UTC(2026, 3, 26), Date.UTC(2026, 3, 27)))
    const again = await startTestServer(mirror, { now: () => clock.time, limits: QUICK })
    expectErrorObject(await again.request(PATH, { headers: { 'last-event-id': id } }), 404)
    expect(exchange.log.filter(({ time }) => time < START)).toEqual([])
  })

  it('that the exchange changes come again as restated, and do not change where a reader goes on', async () => {
    const { url, clock, exchange, rowsOf } = await followSetup()
    const [day, end] = [Date.UTC(2026, 3, 28), Date.UTC(2026, 3, 29)]
    const changed = rowsOf(day, end).slice(0, 1000)
    changed[600] = changed[600].with(5, '1.00000000') as KlineRow
    const reader = await listen(`${url}${PATH}`)
    await settle(reader, clock)
    clock.time = end + HOUR
    await reader.has(110)
    const isLate = ({ kind, startTime }: ExchangeRequest) => kind === 'klines' && startTime === day
    exchange.always(isLate, { body: JSON.stringify(changed) })
    clock.time = end + DAY + HOUR
    await expect.poll(() => reader.rows('restated').length).toBe(1)
    const at = reader.events.findIndex(({ event }) => event === 'restated')
    const [restated, mark] = reader.events.slice(at)
    expect([Number(restated.id), restated.data]).toEqual([day + 600 * MINUTE, JSON.stringify(changed[600])])
    expect([Number(mark.id) > end, mark.event]).toEqual([true, undefined])
  })
})

describe('readers', () => {
  it('of a page of another site get what the mirror has, and cause no request', async () => {
    const { url, clock, exchange, request, rowsOf } = await followSetup()
    const headers = { 'sec-fetch-site': 'cross-site' }
    expectErrorObject(await request(PATH, { headers }), 404)
    expect(exchange.log).toEqual([])
    const own = await listen(`${url}${PATH}`)
    await settle(own, clock)
    clock.time += MINUTE
    await own.has(1)
    const calls = exchange.log.length
    const foreign = await listen(`${url}${PATH}?from=${NEXT - MINUTE}`, headers)
    await foreign.has(2)
    expect(exchange.log.length).toBe(calls)
    clock.time += MINUTE
    await own.has(2)
    await foreign.has(3)
    expect(foreign.rows()).toEqual(rowsOf(NEXT - MINUTE, NEXT + 2 * MINUTE))
    own.response.destroy()
  })

  it('wait while the service fails, and miss nothing', async () => {
    const { url, clock, exchange, rowsOf } = await followSetup()
    const reader = await listen(`${url}${PATH}`)
    await settle(reader, clock)
    clock.time += MINUTE
    await reader.has(1)
    exchange.always('api/v3', { status: 500 })
    const failed = exchange.log.length
    clock.time += 3 * MINUTE
    await expect.poll(() => exchange.log.length).toBeGreaterThan(failed + 1)
    exchange.reset()
    clock.time += MINUTE
    await reader.has(5)
    expect(reader.rows()).toEqual(rowsOf(NEXT, NEXT + 5 * MINUTE))
  })

  it('that stop are cut, and go on with their id; one that leaves in the middle harms nobody', async () => {
    const [errors, lines]: [Error[], string[]] = [[], []]
    const from = START - (START % DAY) - 40 * DAY
    const limits = { ...QUICK, stalledMs: 2_000 }
    const hooks = { onError: (error: Error) => errors.push(error), log: (line: string) => lines.push(line) }
    const { url, rowsOf } = await followSetup({ limits, ...hooks }, from)
    const slow = await listen(`${url}${PATH}?from=${from}`)
    await slow.has(2_000)
    slow.response.pause()
    const gone = await listen(`${url}${PATH}?from=${from}`)
    await gone.has(10_000)
    gone.response.destroy()
    // There is a line when a stream has ended.
    await expect.poll(() => lines.length).toBe(2)
    slow.response.resume()
    await slow.ended
    const got = slow.rows()
    const expected = rowsOf(from, NEXT)
    expect(got.length).toBeLessThan(expected.length)
    while (got.length < expected.length) {
      // On a busy machine it may be cut again.
      const next = await listen(`${url}${PATH}`, { 'last-event-id': String(got.at(-1)?.[0]) })
      await Promise.race([next.ended, next.has(expected.length - got.length)])
      got.push(...next.rows())
    }
    expect(got).toEqual(expected)
    expect(errors).toEqual([])
  })

  it('a thousand of them hear of a candle, and their streams end at once with the server', async () => {
    const { url, clock, close, calls } = await followSetup({ limits: { ...QUICK, graceMs: 120_000 } })
    const readers = []
    while (readers.length < 1_000)
      readers.push(...(await Promise.all(Array.from({ length: 100 }, () => listen(`${url}${PATH}`)))))
    await settle(readers[0], clock)
    const before = calls().length
    clock.time += MINUTE
    for (const reader of readers) await reader.has(1)
    expect(calls().length - before).toBeLessThanOrEqual(2)
    const started = performance.now()
    await Promise.all([close(), ...readers.map(({ ended }) => ended)])
    expect(performance.now() - started).toBeLessThan(60_000)
    expect(readers.every(({ response }) => response.complete)).toBe(true)
  })
})

describe('what cannot be followed is an error object', () => {
  const sample = useServerOver(() => SAMPLE_TREE)
  it.each([
    ['/follow/1h/NOSUCHUSDT', {}, 404],
    ['/follow/1min/BTCUSDT', {}, 404],
    ['/follow/1h/-', {}, 404],
    ['/follow/1h/BTCUSDT?from=yesterday&from=now', {}, 400],
    ['/follow/1h/BTCUSDT?to=now', {}, 400],
    ['/follow/1h/BTCUSDT?from=soon', {}, 400],
    ['/follow/1h/BTCUSDT', { 'last-event-id': 'abc' }, 400],
    ['/follow/1h/BTCUSDT', { 'last-event-id': '-5' }, 400],
  ])('%s %j: %i', async (path, headers, status) => {
    const response = await sample.request(path, { headers: headers as Record<string, string> })
    expect([response.status, parseErrorObject(response)]).toMatchObject([status, { statusCode: status, isError: true }])
  })

  it('and HEAD has the head alone', async () => {
    const { status, headers, body } = await sample.request('/follow/1h/BTCUSDT', { method: 'HEAD' })
    expect([status, headers['content-type'], String(body)]).toEqual([200, 'text/event-stream; charset=utf-8', ''])
    const reader = await listen(`${sample.url()}/follow/1h/btc-usdt?from=2025-03-30`)
    await reader.has(24)
    expect(reader.rows()).toEqual(sampleRows('BTCUSDT', '1h').slice(-24))
  })

  it.each([
    ['a limit', { status: 429, headers: { 'retry-after': '20' } }, 503],
    ['a failure', { status: 500 }, 502],
    ['an unknown symbol', { status: 400, body: '{"code":-1121,"msg":"Invalid symbol."}' }, 404],
  ])('of the service: %s', async (_, answer, status) => {
    const { request, exchange } = await followSetup()
    exchange.always('api/v3', answer)
    const response = await request(PATH)
    expectErrorObject(response, status)
    expect(Number(response.headers['retry-after']) > 0).toBe(status === 503)
  })
})
