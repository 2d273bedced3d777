import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { WindowRef } from '../../src/candles/series.js'
import { Fetcher } from '../../src/sources/fetcher.js'
import { RETRY_POLICY } from '../../src/sources/retry.js'
import type { Fetched, Source } from '../../src/sources/source.js'
import { staticSource } from '../../src/sources/static.js'
import { HttpTransport } from '../../src/sources/transport.js'
import { catchError } from '../support/errors.js'
import { FakeClock } from '../support/fake-clock.js'
import { RawServer, rawReply } from '../support/servers/raw-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { FULL_WEEKS, NOW, weekPath, weekRows, windowBytes } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const WINDOW: WindowRef = { symbol: 'BTCUSDT', interval: '15m', startDate: FULL_WEEKS[0] }
const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const BODY = windowBytes(weekRows(FULL_WEEKS[0]))
const { signal } = new AbortController()

function openSource(url: string): Source {
  const transport = new HttpTransport(url, { connections: 2 })
  const source = staticSource(
    new Fetcher(transport, url, { concurrency: 2, policy: RETRY_POLICY, clock: new FakeClock(NOW) }),
    {
      now: () => NOW,
      observe: () => {},
    },
  )
  onTestFinished(() => source.close())
  return source
}

async function setup() {
  const server = await TreeServer.start(tempFolder())
  return { server, source: openSource(server.url) }
}

describe('a window', () => {
  it('has its rows and its decoded bytes', async () => {
    const { server, source } = await setup()
    for (const [coding, body] of [
      ['gzip', gzipSync(BODY)],
      ['br', brotliCompressSync(BODY)],
    ] as const) {
      server.script(PATH, { headers: { 'content-encoding': coding }, body })
      const fetched = (await source.fetch(WINDOW, undefined, signal)) as Fetched
      expect(BODY.equals(fetched.bytes)).toBe(true)
      expect(fetched.batch.length).toBe(8)
      expect(fetched.batch.row(0)).toEqual(weekRows(FULL_WEEKS[0])[0])
    }
    const wireBytes = gzipSync(BODY).length + brotliCompressSync(BODY).length
    expect(source.traffic).toMatchObject({ requests: 2, bytes: wireBytes })
  })

  it.each([
    [200, 200],
    [201, 'invalid'],
    [202, 'invalid'],
    [203, 'invalid'],
    [204, 'invalid'],
    [206, 'invalid'],
    [300, 'invalid'],
    [304, 'invalid'],
    [416, 'invalid'],
    [400, 'permanent'],
    [404, 'permanent'],
    [501, 'permanent'],
  ])('with status %i and no condition is %s', async (status, kind) => {
    const { server, source } = await setup()
    server.always(PATH, { status, body: BODY })
    if (status === 200) {
      expect(await source.fetch(WINDOW, undefined, signal)).toHaveProperty('batch.length', 8)
      return
    }
    expect(await catchError(source.fetch(WINDOW, undefined, signal))).toMatchObject({ kind, status })
    expect(server.log).toHaveLength(kind === 'invalid' ? 3 : 1)
  })
})

describe('a cached window', () => {
  const cachedTime = Date.UTC(2025, 1, 12, 3, 17, 5)

  it('is requested with If-Modified-Since and comes without a body after a 304', async () => {
    const { server, source } = await setup()
    server.always(PATH, { status: 304 })
    expect(await source.fetch(WINDOW, { rendered: cachedTime, asked: NOW }, signal)).not.toHaveProperty('bytes')
    expect(server.log[0].headers['if-modified-since']).toBe('Wed, 12 Feb 2025 03:17:05 GMT')
    expect(server.log).toHaveLength(1)
  })

  it.each([
    ['that does not exist', undefined],
    ['without a time', { asked: NOW }],
    // The service had a Date alone, which is no time of the file.
    ['whose time is that of its answer', { rendered: cachedTime, asked: cachedTime }],
  ])('%s means a request without a condition', async (_, cached) => {
    const { server, source } = await setup()
    server.always(PATH, { body: BODY })
    await source.fetch(WINDOW, cached, signal)
    expect(server.log[0].headers).not.toHaveProperty('if-modified-since')
    expect(server.log[0].headers).not.toHaveProperty('range')
  })
})

describe('the times of a window', () => {
  const modified = 'Last-Modified: Wed, 12 Feb 2025 03:17:00 GMT'
  const date = 'Date: Wed, 12 Feb 2025 11:59:00 GMT'
  const DATE = Date.UTC(2025, 1, 12, 11, 59)
  /** A second before the close of the last candle. */
  const OLD = `Last-Modified: ${new Date(weekRows(FULL_WEEKS[0])[7][6] - 1000).toUTCString()}`

  it.each<[string, string[], number | undefined, number, string?]>([
    ['Last-Modified and Date', [date, modified], Date.UTC(2025, 1, 12, 3, 17), DATE],
    ['Date, without Last-Modified', [date], DATE, DATE],
    ['Date, when Last-Modified is nonsense', ['Last-Modified: yesterday-ish', date], DATE, DATE],
    ['Date, when Last-Modified is later', [date, 'Last-Modified: Wed, 12 Feb 2025 11:59:30 GMT'], DATE, DATE],
    ['unknown and the present, with neither', [], undefined, NOW],
    ['Date, when Last-Modified is before the close of its last candle', [OLD, date], DATE, DATE],
    ['unknown and the present, with such a Last-Modified alone', [OLD], undefined, NOW],
    [
      'Date, when Last-Modified is before all candles of the exchange',
      ['Last-Modified: Fri, 30 Jun 2017 23:59:59 GMT', date],
      DATE,
      DATE,
      '[]',
    ],
    [
      'the present at the latest',
      ['Date: Wed, 12 Feb 2030 11:59:00 GMT', 'Last-Modified: Wed, 12 Feb 2031 11:59:00 GMT'],
      NOW,
      NOW,
    ],
  ])('are %s', async (_, headers, rendered, asked, body = String(BODY)) => {
    const server = await RawServer.start(rawReply('200 OK', [...headers, `Content-Length: ${body.length}`], body))
    expect(await openSource(server.url).fetch(WINDOW, undefined, signal)).toMatchObject({ rendered, asked })
  })
})

describe('the lists', () => {
  it('and windows have the paths of the service', async () => {
    const { server, source } = await setup()
    server.always('api/klines/symbols.json', { body: '["DOTUSDT","XYZUSDT","BTCUSDT"]' })
    server.always('api/klines/start-dates/1M.json', { body: '["2010-01-01","2030-01-01"]' })
    expect((await source.symbols(signal)).names).toEqual(['DOTUSDT', 'XYZUSDT', 'BTCUSDT'])
    expect((await source.startDates('1M', signal)).names).toEqual(['2010-01-01', '2030-01-01'])
    server.always(weekPath('%E5%B8%81U', FULL_WEEKS[0]), { body: BODY })
    expect(await source.fetch({ ...WINDOW, symbol: '币U' }, undefined, signal)).toHaveProperty('batch.length', 8)
  })

  it.each([-3_600_000, 3_600_000])(
    'say the present of the service, and when they were asked, its clock %i ms ahead',
    async ahead => {
      const { server, source } = await setup()
      server.date = NOW + ahead
      server.always('api/klines/symbols.json', { body: '["DOTUSDT"]' })
      const asked = Math.min(server.date, NOW)
      expect(await source.symbols(signal)).toMatchObject({ served: server.date, asked })
    },
  )
})
