import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type DownloadRequest, downloadKlines } from '../../src/engine/klines.js'
import { fetchStartDates } from '../../src/engine/lists.js'
import { planRequest } from '../../src/engine/plan.js'
import { downloadSetup, openTestRun, readJson } from '../support/download-setup.js'
import { catchError } from '../support/errors.js'
import { filesBelow } from '../support/files-below.js'
import { FULL_WEEKS, OPEN_WEEK, STARTED, weekPath } from '../support/synthetic-tree.js'

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
    const report = await downloadKlines({ ...request, from: FULL_WEEKS[0] })
    expect(server.paths('windows').sort()).toEqual([missing, path(OPEN_WEEK)])
    expect(report.series[0].candles).toBe(42)
  })

  it('shares a line of the message, with a count, with the others that failed for the same reason', async () => {
    const { server, request } = await downloadSetup()
    for (const date of FULL_WEEKS.slice(0, 4)) server.always(path(date), { status: 404 })
    server.always(path(FULL_WEEKS[4]), { status: 403, body: '{"message":"No\\u001b[2J way"}' })
    const { message } = await catchError(downloadKlines(request))
    const [a, b, c, d] = FULL_WEEKS.map(date => `BTCUSDT 15m ${date}`)
    expect(message.split('\n').slice(1)).toEqual([
      `4 x status 404 (${a}, ${b}, ${c} and 1 more)`,
      `1 x status 403: No [2J way (BTCUSDT 15m ${FULL_WEEKS[4]})`,
    ])
    for (const [index, date] of STARTED.entries()) server.always(path(date), { status: 410 + index })
    const lines = (await catchError(downloadKlines(request))).message.split('\n')
    expect(lines.slice(5)).toEqual([`1 x status 414 (${d})`, 'and 2 other causes; --json names every window'])
  })
})

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
])(
  'a service whose list cannot be downloaded (%s) is unreachable; the error says what happened and what to do',
  async (_, answer, words, advice) => {
    const { server, mirror } = await downloadSetup()
    server.always(LIST, answer)
    const error = await catchError(fetchStartDates(await openTestRun(server, mirror), '15m'))
    expect(error).toMatchObject({ code: 'unreachable', data: { baseUrl: server.url } })
    expect(error.message).toContain(`The service at ${server.url} ${words}`)
    expect(error.suggestions).toEqual([expect.stringMatching(advice), expect.stringContaining('klines export')])
  },
)

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
  })
})

it.each([
  ['a concurrency of 0', { concurrency: 0 }, 'bad_option'],
  ['a concurrency of 1.5', { concurrency: 1.5 }, 'bad_option'],
  ['a concurrency of 257', { concurrency: 257 }, 'bad_option'],
  ['what cannot be a symbol', { symbols: ['NO+PE'] }, 'unknown_symbol'],
  ['no symbol', { symbols: [] }, 'bad_option'],
  ['an empty range', { from: '2025-01-02', to: '2025-01-02' }, 'bad_range'],
  ['a date that does not exist', { from: '2025-02-30' }, 'bad_time'],
  ['a base address with /api', { baseUrl: 'http://127.0.0.1:1/api' }, 'bad_base_url'],
])('an invalid request (%s) sends no HTTP request and creates no file', async (_, wrong, code) => {
  const { server, folder, request } = await downloadSetup()
  await expect(downloadKlines({ ...request, ...wrong } as DownloadRequest)).rejects.toMatchObject({ code })
  expect(server.log).toEqual([])
  expect(filesBelow(folder)).toEqual([])
})

it('a mirror path that is a file ends a download with mirror_unusable before any request for a window', async () => {
  const { server, mirror, request } = await downloadSetup()
  writeFileSync(mirror, 'precious')
  await expect(downloadKlines(request)).rejects.toMatchObject({ code: 'mirror_unusable' })
  expect(server.paths('windows')).toEqual([])
})
