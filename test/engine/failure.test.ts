import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type DownloadRequest, downloadKlines } from '../../src/engine/download.js'
import { fetchStartDates } from '../../src/engine/lists.js'
import { planRequest } from '../../src/engine/plan.js'
import { refresh, refreshWindow } from '../../src/engine/refresh.js'
import { downloadSetup, openTestRun, readJson } from '../support/download-setup.js'
import { catchError } from '../support/errors.js'
import { filesBelow } from '../support/files-below.js'
import { FULL_WEEKS, OPEN_WEEK, STARTED, weekPath, weekRows } from '../support/synthetic-tree.js'

const SYMBOLS_LIST = 'api/klines/symbols.json'
const LIST = 'api/klines/start-dates/15m.json'
const SERIES = { symbol: 'BTCUSDT', interval: '15m' } as const
const path = (startDate: string) => weekPath('BTCUSDT', startDate)
const REQUEST = { symbols: ['BTCUSDT'], intervals: ['15m'] } as const

describe('a window that cannot be downloaded', () => {
  it('makes the run incomplete and is listed; the others are stored, and the next run requests only it', async () => {
    const { server, mirror, request } = await downloadSetup()
    const missing = path(FULL_WEEKS[2])
    server.always(missing, { status: 404, body: '<!DOCTYPE html>' })
    const error = await catchError(downloadKlines(request))
    expect(error).toMatchObject({
      code: 'incomplete',
      data: { failures: [{ ...SERIES, startDate: FULL_WEEKS[2], reason: 'status 404' }] },
      suggestions: ['The mirror keeps what was downloaded; run the same command again to download the rest.'],
    })
    expect(error.message).toMatch(/^1 of 7 windows could not be downloaded/)
    expect(error.message).toContain(`1 x status 404 (BTCUSDT 15m ${FULL_WEEKS[2]})`)
    const others = STARTED.filter(date => date !== FULL_WEEKS[2])
    expect(filesBelow(join(mirror, 'api', 'klines', '15m', 'BTCUSDT'))).toEqual(others.map(date => `${date}.json`))
    server.reset()
    const report = await downloadKlines(request)
    expect(server.paths('windows').sort()).toEqual([missing, path(OPEN_WEEK)])
    expect(report.series[0].candles).toBe(42)
  })

  it('shares a line of the message, with a count, with the others that failed for the same reason', async () => {
    const { server, request } = await downloadSetup()
    for (const date of FULL_WEEKS.slice(0, 4)) server.always(path(date), { status: 404 })
    server.always(path(FULL_WEEKS[4]), { status: 403, body: '{"message":"No\\u001b[2J way"}' })
    const { message } = await catchError(downloadKlines(request))
    const [a, b, c] = FULL_WEEKS.map(date => `BTCUSDT 15m ${date}`)
    expect(message.split('\n').slice(1)).toEqual([
      `4 x status 404 (${a}, ${b}, ${c} and 1 more)`,
      `1 x status 403: No [2J way (BTCUSDT 15m ${FULL_WEEKS[4]})`,
    ])
  })

  it.each<[string, string | Buffer, RegExp]>([
    ['a truncated window', JSON.stringify(weekRows(FULL_WEEKS[2])).slice(0, 250), /not JSON/],
    ["another window's rows", JSON.stringify(weekRows(FULL_WEEKS[3])), /outside the window/],
    ['an error object with status 200', '{"statusCode":500,"message":"x","isError":true}', /expected an array/],
  ])('is not stored if the body is %s; the windows before and after it are', async (_, body, words) => {
    const { server, mirror } = await downloadSetup()
    server.always(path(FULL_WEEKS[2]), { body })
    const run = await openTestRun(server, mirror)
    const plan = await planRequest(REQUEST, run)
    const results = []
    for await (const result of refresh(run, plan.series)) results.push(result)
    expect(results.map(({ status }) => status)).toEqual(
      STARTED.map(date => (date === FULL_WEEKS[2] ? 'failed' : 'fetched')),
    )
    expect(results.find(({ status }) => status === 'failed')).toMatchObject({ reason: expect.stringMatching(words) })
    expect(existsSync(join(mirror, path(FULL_WEEKS[2])))).toBe(false)
    expect(server.paths().filter(requested => requested === path(FULL_WEEKS[2]))).toHaveLength(3)
  })

  it('fails when a request without a condition gets 304; it is not treated as empty', async () => {
    const { server, mirror } = await downloadSetup()
    server.always(path(FULL_WEEKS[2]), { status: 304 })
    const run = await openTestRun(server, mirror)
    const result = await refreshWindow(run, { ...SERIES, startDate: FULL_WEEKS[2] })
    expect(result).toMatchObject({ status: 'failed', reason: 'status 304, which was not requested' })
  })

  it('leaves a cached file that is not final unchanged', async () => {
    const { server, mirror, request } = await downloadSetup()
    await downloadKlines(request)
    server.always(path(OPEN_WEEK), { status: 404 })
    const before = filesBelow(mirror)
    await expect(downloadKlines(request)).rejects.toMatchObject({ code: 'incomplete' })
    expect(filesBelow(mirror)).toEqual(before)
  })
})

describe('a malicious list of start dates is refused before any window is requested or stored:', () => {
  const monday = (week: number) => new Date(Date.UTC(2024, 11, 30) + week * 7 * 86_400_000).toISOString().slice(0, 10)
  it.each<[string, unknown, RegExp]>([
    ['traversal', ['../../../../etc/cron.d/x'], /entry 0 is .*not a date/],
    ['traversal behind a date', ['2025-01-06/../../x'], /not a date/],
    ['an absolute path', ['/etc/passwd'], /not a date/],
    ['a NUL', ['2025-01-06\u0000'], /not a date/],
    ['a date that does not exist', ['2025-02-30'], /not a date/],
    ['a day on which no window starts', ['2025-01-07'], /no window of 7 days starts/],
    ['dates out of order', ['2025-01-13', '2025-01-06'], /does not come after 2025-01-13/],
    ['a repeated date', ['2025-01-06', '2025-01-06'], /does not come after/],
    ['numbers', [20250106], /entry 0 is not a string/],
    ['an object', { 0: '2025-01-06' }, /not an array/],
    ['a million entries', Array.from({ length: 200_000 }, (_, week) => monday(week % 500)), /200000 entries/],
  ])('%s', async (_, list, words) => {
    const { server, mirror } = await downloadSetup()
    server.always(LIST, { body: JSON.stringify(list) })
    const error = await catchError(planRequest(REQUEST, await openTestRun(server, mirror)))
    expect(error).toMatchObject({ code: 'bad_list' })
    expect(error.message).toMatch(words)
    expect(existsSync(mirror)).toBe(false)
    expect(server.paths('windows')).toEqual([])
  })
})

describe('a service whose list cannot be downloaded', () => {
  it.each([
    ['404', { status: 404 }, 'answered 404 (Not Found) for the list of 15m start dates', /--base-url sample/],
    ['503', { status: 503 }, 'answered 503 (Service Unavailable); tried 6 times for', /^Try again later/],
    [
      '418',
      { status: 418, body: '{"message":"No"}' },
      "answered 418 (I'm a Teapot) for the list of 15m start dates: No.",
      /--base-url/,
    ],
    ['a captive portal', { body: '<html>Sign in</html>' }, 'did not answer with JSON; tried 3 times', /sign-in page/],
  ])('(%s) is unreachable; the error says what happened and what to do', async (_, answer, words, advice) => {
    const { server, mirror } = await downloadSetup()
    server.always(LIST, answer)
    const error = await catchError(fetchStartDates(await openTestRun(server, mirror), '15m'))
    expect(error).toMatchObject({ code: 'unreachable', data: { baseUrl: server.url } })
    expect(error.message).toContain(`The service at ${server.url} ${words}`)
    expect(error.suggestions).toEqual([expect.stringMatching(advice), expect.stringContaining('klines export')])
  })

  it('is unreachable if the connection is refused', async () => {
    const { server, mirror } = await downloadSetup()
    const run = await openTestRun(server, mirror)
    await server.stop()
    expect(await catchError(fetchStartDates(run, '15m'))).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('connection refused (ECONNREFUSED)'),
    })
  })

  it('is rate_limited if it responds with 429 and a long Retry-After', async () => {
    const { server, request } = await downloadSetup()
    server.always(LIST, { status: 429, headers: { 'retry-after': '86400' } })
    await expect(downloadKlines(request)).rejects.toMatchObject({ code: 'rate_limited' })
    expect(server.log).toHaveLength(1)
  })
})

it('a run that receives a long Retry-After sends no further request and keeps the stored windows', async () => {
  const { server, mirror, request } = await downloadSetup()
  server.always(path(FULL_WEEKS[2]), { status: 429, headers: { 'retry-after': '3600' } })
  await expect(downloadKlines({ ...request, concurrency: 1 })).rejects.toMatchObject({ code: 'rate_limited' })
  expect(server.paths('windows')).toEqual(STARTED.slice(0, 4).map(path))
  expect(filesBelow(join(mirror, 'api', 'klines', '15m'))).toHaveLength(3)
})

describe('a first download that stores no file leaves no folder, also none above the mirror:', () => {
  async function setUp() {
    const setup = await downloadSetup()
    return { ...setup, mirror: join(setup.folder, 'a', 'b', 'mirror') }
  }

  it.each([
    ['503', { status: 503 }],
    ['404', { status: 404 }],
    ['a captive portal', { body: '<html>Sign in</html>' }],
    ['a malicious list', { body: '["../../x"]' }],
  ])('%s for the lists', async (_, answer) => {
    const { server, mirror, folder } = await setUp()
    server.always(LIST, answer)
    server.always(SYMBOLS_LIST, answer)
    const run = await openTestRun(server, mirror)
    await expect(planRequest(REQUEST, run)).rejects.toHaveProperty('code')
    await expect(planRequest({ ...REQUEST, symbols: 'all' }, run)).rejects.toHaveProperty('code')
    await run.close()
    expect(readdirSync(folder)).toEqual([])
  })

  it('a refused connection', async () => {
    const { server, mirror, folder } = await setUp()
    const run = await openTestRun(server, mirror)
    await server.stop()
    await expect(planRequest(REQUEST, run)).rejects.toMatchObject({ code: 'unreachable' })
    expect(readdirSync(folder)).toEqual([])
  })

  it('an interruption before the first file', async () => {
    const { server, mirror, folder, request } = await setUp()
    const controller = new AbortController()
    server.hold = () => {
      controller.abort(new Error('enough'))
      return new Promise<void>(() => {})
    }
    const run = downloadKlines({ ...request, mirror, signal: controller.signal })
    await expect(run).rejects.toThrow('enough')
    expect(readdirSync(folder)).toEqual([])
  })

  it('and the next download makes the mirror, with its source', async () => {
    const { server, mirror, request } = await setUp()
    server.script(LIST, { status: 404 })
    await expect(downloadKlines({ ...request, mirror })).rejects.toMatchObject({ code: 'unreachable' })
    await downloadKlines({ ...request, mirror })
    expect(readJson(mirror, 'mirror.json')).toMatchObject({ baseUrl: server.url })
    expect(existsSync(join(mirror, 'CACHEDIR.TAG'))).toBe(true)
  })
})

describe('an invalid request', () => {
  it.each([
    ['a concurrency of 0', { concurrency: 0 }, 'bad_option'],
    ['a concurrency of 1.5', { concurrency: 1.5 }, 'bad_option'],
    ['a concurrency of 257', { concurrency: 257 }, 'bad_option'],
    ['what cannot be a symbol', { symbols: ['NO+PE'] }, 'unknown_symbol'],
    ['no symbol', { symbols: [] }, 'bad_option'],
    ['an empty range', { from: '2025-01-02', to: '2025-01-02' }, 'bad_range'],
    ['a date that does not exist', { from: '2025-02-30' }, 'bad_time'],
    ['a base address with /api', { baseUrl: 'http://127.0.0.1:1/api' }, 'bad_base_url'],
  ])('(%s) sends no HTTP request and creates no file', async (_, wrong, code) => {
    const { server, folder, request } = await downloadSetup()
    await expect(downloadKlines({ ...request, ...wrong } as DownloadRequest)).rejects.toMatchObject({ code })
    expect(server.log).toEqual([])
    expect(filesBelow(folder)).toEqual([])
  })
})

it('a mirror path that is a file ends a download with mirror_unusable before any request for a window', async () => {
  const { server, mirror, request } = await downloadSetup()
  writeFileSync(mirror, 'precious')
  await expect(downloadKlines(request)).rejects.toMatchObject({ code: 'mirror_unusable' })
  expect(server.paths('windows')).toEqual([])
})
