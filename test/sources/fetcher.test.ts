import { describe, expect, it, onTestFinished } from 'vitest'
import { Fetcher, type HostRules } from '../../src/sources/fetcher.js'
import { RETRY_POLICY, type RetryPolicy, systemClock } from '../../src/sources/retry.js'
import { staticSource } from '../../src/sources/static.js'
import { HttpTransport } from '../../src/sources/transport.js'
import { deferred, turns, until } from '../support/deferred.js'
import { catchError } from '../support/errors.js'
import { FakeClock } from '../support/fake-clock.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { NOW } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const LIST = 'api/klines/symbols.json'
const BODY = '["BTCUSDT"]'

interface Setup {
  concurrency?: number
  policy?: Partial<RetryPolicy>
  random?: number
  rules?: HostRules
  clock?: FakeClock | typeof systemClock
}

/** Creates a fetcher with a clock that does not wait, and a source on top. */
function createFetcher(
  url: string,
  { concurrency = 8, policy, random = 1, rules, clock = new FakeClock(NOW) }: Setup = {},
) {
  const transport = new HttpTransport(url, { connections: concurrency })
  const fetcher = new Fetcher(transport, url, {
    concurrency,
    clock,
    random: () => random,
    rules,
    policy: { ...RETRY_POLICY, ...policy },
  })
  onTestFinished(() => fetcher.close())
  const source = staticSource(fetcher, { now: () => NOW, observe: () => {} })
  const { signal } = new AbortController()
  /** Fetches any file: its status and body as text. */
  const get = (path: string, abortSignal: AbortSignal = signal) =>
    fetcher.get({ path, signal: abortSignal, accept: ({ status, body }) => `${status} ${body}` })
  return { fetcher, get, symbols: () => source.symbols(signal), clock }
}

async function treeSetup(setup?: Setup) {
  const server = await TreeServer.start(tempFolder())
  server.always(LIST, { body: BODY })
  return { server, ...createFetcher(server.url, setup) }
}

describe('a file', () => {
  it.each([408, 425, 429, 500, 502, 503, 504, 520, 524])('is tried six times on status %i', async status => {
    const { server, symbols } = await treeSetup()
    server.always(LIST, { status })
    expect(await catchError(symbols())).toMatchObject({ kind: 'transient', status, message: `status ${status}` })
    expect(server.log).toHaveLength(6)
  })

  it.each([400, 401, 403, 404, 410, 418, 451, 501, 505])('is requested once on status %i', async status => {
    const { server, symbols } = await treeSetup()
    server.always(LIST, { status })
    expect(await catchError(symbols())).toMatchObject({ kind: 'permanent', status })
    expect(server.log).toHaveLength(1)
  })

  it('418 ends the run, however short the ban that it names', async () => {
    const { server, symbols } = await treeSetup()
    server.always(LIST, { status: 418, headers: { 'retry-after': '5' } })
    expect(await catchError(symbols())).toMatchObject({ code: 'rate_limited', data: { status: 418 } })
    expect(await catchError(symbols())).toMatchObject({ code: 'rate_limited' })
    expect(server.log).toHaveLength(1)
  })

  it('that is invalid is tried three times, then the fault is named', async () => {
    const { server, symbols } = await treeSetup()
    server.always(LIST, { body: '["BTCUSDT",7]' })
    expect(await catchError(symbols())).toMatchObject({
      kind: 'invalid',
      message: 'The list of symbols is refused: entry 1 is 7, not a symbol.',
    })
    expect(server.log).toHaveLength(3)
  })
})

it('a try ends with its time', async () => {
  const { server, symbols } = await treeSetup({ clock: systemClock, policy: { tries: 1, attemptMs: 301 } })
  server.script(LIST, { body: BODY }, () => {})
  await symbols()
  expect(await catchError(symbols())).toMatchObject({ message: 'no whole answer within 0.301 s', tries: 1 })
})

describe('Retry-After', () => {
  it('of one response delays every other request', async () => {
    const { server, get, symbols, clock } = await treeSetup({ concurrency: 4, random: 0 })
    const times: [string, number][] = []
    server.hold = path => {
      times.push([path, clock.now() - NOW])
    }
    server.script(LIST, { status: 429, headers: { 'retry-after': '7' } })
    const first = symbols()
    await until(() => server.log[0]?.status === 429)
    await turns()
    await Promise.all([first, get('a'), get('b'), get('c')])
    expect(times[0]).toEqual([LIST, 0])
    expect(
      times
        .slice(1)
        .map(([path]) => path)
        .sort(),
    ).toEqual(['a', LIST, 'b', 'c'])
    for (const [, time] of times.slice(1)) expect(time).toBe(7_000)
  })

  it.each([
    ['2', [2_000]],
    ['60', [60_000]],
    ['Wed, 12 Feb 2025 12:00:30 GMT', [30_000]],
    ['Wed, 12 Feb 2025 11:00:00 GMT', []],
    ['soon', []],
  ])('of %j delays the next try by %j ms', async (header, waits) => {
    const { server, symbols, clock } = await treeSetup({ random: 0 })
    server.script(LIST, { status: 503, headers: { 'retry-after': header } })
    await symbols()
    expect((clock as FakeClock).sleeps.filter(ms => ms > 0)).toEqual(waits)
  })

  it('of an answer that is no failure means nothing, and a shorter one does not shorten a pause', async () => {
    const { server, symbols, get, clock } = await treeSetup({ random: 0 })
    server.always('good', { headers: { 'retry-after': '7' } })
    await get('good')
    expect(clock.now()).toBe(NOW)
    server.always(LIST, { status: 404, headers: { 'retry-after': '30' } })
    server.always('soon', { status: 404, headers: { 'retry-after': '2' } })
    const first = catchError(symbols())
    server.hold = path => (path === 'soon' ? first.then(() => {}) : undefined)
    await Promise.all([first, get('soon')])
    await get('good')
    expect(clock.now() - NOW).toBe(30_000)
  })

  it.each([
    ['86400', '2025-02-13T12:00:00Z'],
    ['61', '2025-02-12T12:01:01Z'],
    ['Wed, 12 Feb 2025 18:30:00 GMT', '2025-02-12T18:30:00Z'],
  ])('of %s ends the run with the time to wait until, and no request follows', async (header, until) => {
    const { server, symbols, get } = await treeSetup()
    server.always(LIST, { status: 429, headers: { 'retry-after': header } })
    const error = await catchError(symbols())
    expect(error).toMatchObject({ code: 'rate_limited', data: { status: 429, until } })
    expect(error.message).toBe(`${server.url} answered 429 (Too Many Requests): rate limited until ${until}.`)
    expect(await catchError(get('another'))).toBe(error)
    expect(server.paths()).toEqual([LIST])
  })
})

it.each([
  [100, 300],
  [300, 100],
])('a wait of %i s and then one of %i s end a run for the longer time, and no longer', async (first, second) => {
  const { server, get, clock } = await treeSetup()
  const limited = (seconds: number) => ({ status: 429, headers: { 'retry-after': String(seconds) } })
  server.always('first', limited(first))
  server.always('second', limited(second))
  const error = catchError(get('first'))
  server.hold = path => (path === 'second' ? error.then(() => {}) : undefined)
  const [, last] = await Promise.all([error, catchError(get('second'))])
  expect(last).toMatchObject({ data: { until: '2025-02-12T12:05:00Z' } })
  await clock.sleep(299_999)
  expect(await catchError(get(LIST))).toBe(last)
  await clock.sleep(1)
  expect(await get(LIST)).toBe(`200 ${BODY}`)
})

describe('a run', () => {
  it('ends when the service does not answer for ten files in a row', async () => {
    const { server, symbols } = await treeSetup({ policy: { tries: 2 } })
    server.always(LIST, { status: 502 })
    for (let file = 0; file < 9; file++) expect(await catchError(symbols())).toMatchObject({ name: 'FetchError' })
    expect(await catchError(symbols())).toMatchObject({
      code: 'unreachable',
      message: `The service at ${server.url} answered 502 (Bad Gateway); tried 2 times for each of 10 files in a row.`,
      suggestions: [expect.stringMatching(/^Try again later/), expect.stringContaining('klines export')],
      data: { baseUrl: server.url, status: 502, tries: 2, reason: 'status 502' },
    })
    expect(server.log).toHaveLength(20)
    expect(await catchError(symbols())).toMatchObject({ code: 'unreachable' })
    expect(server.log).toHaveLength(20)
  })

  it('ends when three files in a row are not JSON', async () => {
    const { server, symbols } = await treeSetup({ policy: { invalidTries: 1 } })
    server.always(LIST, { body: '<html>Sign in</html>' })
    for (let file = 0; file < 2; file++) expect(await catchError(symbols())).toMatchObject({ name: 'FetchError' })
    expect(await catchError(symbols())).toMatchObject({ code: 'unreachable' })
  })

  it.each([
    ['a successful file', { body: BODY }],
    ['a plain 404', { status: 404 }],
  ])('goes on when %s interrupts the failures', async (_, between) => {
    const { server, symbols } = await treeSetup({ policy: { tries: 1 } })
    const bad = { status: 502 }
    server.script(LIST, ...Array(9).fill(bad), between, ...Array(9).fill(bad))
    for (let file = 0; file < 19; file++) {
      const error = await symbols().catch(caught => caught)
      expect(error).not.toHaveProperty('code')
    }
    expect(server.log).toHaveLength(19)
  })
})

it('concurrent requests are as many as the limit and never more', async () => {
  const { server, get } = await treeSetup({ concurrency: 5 })
  server.hold = async () => {
    await until(() => server.log.length >= 5)
    await turns(5)
  }
  await Promise.all(Array.from({ length: 40 }, (_, file) => get(`file-${file}`)))
  expect(server.log).toHaveLength(40)
  expect(server.peak).toBe(5)
})

describe('an abort', () => {
  /** Starts a server that answers late, and requests twenty files, four at once. */
  async function startBlockedRun() {
    const setup = await treeSetup({ concurrency: 4, clock: systemClock })
    const gate = deferred()
    setup.server.hold = () => gate.promise
    const controller = new AbortController()
    const results = Array.from({ length: 20 }, (_, file) => catchError(setup.get(`file-${file}`, controller.signal)))
    await until(() => setup.server.log.length === 4)
    return { ...setup, controller, results, gate }
  }

  it('by a signal rejects all files with its reason at once, and no further request is made', async () => {
    const { server, controller, results, gate } = await startBlockedRun()
    const reason = new Error('enough')
    const started = Date.now()
    controller.abort(reason)
    expect(await Promise.all(results)).toEqual(Array(20).fill(reason))
    expect(Date.now() - started).toBeLessThan(30_000)
    gate.resolve()
    await turns()
    expect(server.log).toHaveLength(4)
  })

  it('by a signal ends the wait for a retry', async () => {
    const { server, get } = await treeSetup({ clock: systemClock })
    server.always('slow', (_, response) => response.destroy())
    const controller = new AbortController()
    const result = catchError(get('slow', controller.signal))
    await until(() => server.log.length === 1)
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await result).toBe(reason)
  })

  it('by close rejects running requests and waiting retries, which would keep the process alive', async () => {
    const { server, fetcher, results, gate } = await startBlockedRun()
    const started = Date.now()
    await fetcher.close()
    for (const error of await Promise.all(results)) expect(error).toMatchObject({ name: 'AbortError' })
    expect(Date.now() - started).toBeLessThan(30_000)
    gate.resolve()
    await turns()
    expect(server.log).toHaveLength(4)
  })
})
