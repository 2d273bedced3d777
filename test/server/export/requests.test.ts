import { describe, expect, it } from 'vitest'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { expectError } from '../../support/servers/error-response.js'
import { sendRaw } from '../../support/servers/raw-client.js'
import { stableHeaders, startTestServer, useServerOver } from '../../support/servers/test-server.js'

const server = useServerOver(() => SAMPLE_TREE)
const get = (target: string, ...fields: string[]) =>
  sendRaw(server.url(), [`GET ${target} HTTP/1.1`, 'Host: localhost', ...fields, '', ''].join('\r\n'))
const QUERY_NAMES = 'from, to, last, resample, partial, limit, tail, columns, time-format, numbers, compression'

describe('a bad request', () => {
  it.each([
    ['5h/BTCUSDT.csv', 404, 'Unknown interval "5h". Expected one of 1m, 3m, 5m, 15m, 30m,'],
    ['1m/BTCUSDT.csv', 404, 'This server has no 1m candles. Expected one of 15m, 30m,'],
    ['1h/BTCUSD.csv', 404, 'Did you mean BTCUSDT?'],
    ['1h/PEPEUSDT.csv', 404, 'Unknown symbol "PEPEUSDT"; this server has no such symbol. Expected one of BTCUSDT,'],
    ['1h/BTCUSDT.cvs', 404, 'The name BTCUSDT.cvs has no known extension. Expected .csv, .json,'],
    ['1h/BTCUSDT.csv?form=2025', 400, `Expected some of ${QUERY_NAMES}.`],
    ['1h/BTCUSDT.csv?to=2025&to=2026', 400, '"to" is given more than once'],
    ['1h/BTCUSDT.csv?from=yesterda', 400, '"yesterda" is not a point in time.'],
    ['1h/BTCUSDT.csv?from=2025&last=3d', 400, 'from= and last= both say where the range starts.'],
    ['1h/BTCUSDT.csv?columns=close,cloze', 400, 'Unknown column "cloze".'],
    ['1h/BTCUSDT.csv?numbers=decimal', 400, 'numbers=decimal is for parquet and arrow, not for csv'],
    ['1h/BTCUSDT.parquet?compression=lz4', 400, 'compression= is "lz4". Expected zstd, gzip, snappy, none.'],
    ['1h/BTCUSDT.csv?partial=true', 400, 'Add resample=, or leave partial= out.'],
    ['1h/BTCUSDT.csv?tail=few', 400, 'tail= is "few". Expected a whole number of candles.'],
    ['1h/BTCUSDT.csv?resample=90m', 400, 'or a finer one.'],
    ['1h/BTCUSDT.csv?from=2031', 404, 'No candle of BTCUSDT 1h opens from 2031-01-01T00:00:00.000Z to the present'],
    ['1h/BTCUSDT.csv?from=2031&to=2031-01-02', 404, 'from=2025-03-30&to=2025-03-31 has some.'],
    ['1h/BTCUSDT.csv?from=2026&to=2025', 400, 'Expected from= before to=, which is exclusive.'],
    ['3h/BTCUSDT.csv', 404, 'resample=3h makes such candles of shorter ones: /export/1h'],
    [
      '1h/BTCUSDT.csv?from=2025-01-03T01:00&to=2025-01-03T02:00&resample=1d',
      404,
      'partial= keeps candles that are covered in part.',
    ],
  ])('%s: %i, %s', async (target, status, message) => {
    const error = expectError(await get(`/export/${target}`), status)
    expect(error.message).toContain(message)
    // No flag of the command line, and none of its commands.
    expect(error.message).not.toMatch(/--\w| -i |klines (start-dates|download)/)
    expect((await server.request(`/export/${target}`, { method: 'HEAD' })).status).toBe(status)
  })

  it('names every faulty parameter in the cause', async () => {
    const { cause } = expectError(await get('/export/1h/BTCUSDT.csv?fro=1&to=2025&too=3&to=2026'), 400)
    expect(cause).toEqual([
      { field: 'fro', message: 'is unknown' },
      { field: 'too', message: 'is unknown' },
      { field: 'to', message: 'is given more than once' },
    ])
  })

  it.each([
    ['POST', '/export/1h/BTCUSDT.csv', 405],
    ['GET', '/export', 404],
    ['GET', '/export/1h', 404],
    ['GET', '/export/1h/BTCUSDT.csv/', 404],
    ['GET', '/export/1h/../BTCUSDT.csv', 404],
    ['GET', '/export/1h/%', 400],
  ])('%s %s: %i', async (method, target, status) => {
    expectError(await sendRaw(server.url(), `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`), status)
  })
})

describe('the head of an export', () => {
  it.each([
    ['1h/BTCUSDT.csv', 'text/csv; charset=utf-8', 'BTCUSDT-1h.csv'],
    ['1h/BTCUSDT.csv.gz', 'application/gzip', 'BTCUSDT-1h.csv.gz'],
    ['1M/BTCUSDT.json', 'application/json; charset=utf-8', 'BTCUSDT-1M.json'],
    ['1h/BTCUSDT.jsonl?resample=2d', 'application/jsonl; charset=utf-8', 'BTCUSDT-2d.jsonl'],
    ['1d/ethusdt.parquet', 'application/vnd.apache.parquet', 'ETHUSDT-1d.parquet'],
    ['1d/ETHUSDT.arrow', 'application/vnd.apache.arrow.file', 'ETHUSDT-1d.arrow'],
  ])('%s is %s, called %s; HEAD has the same, and no body', async (target, type, name) => {
    const response = await server.request(`/export/${target}`, { headers: { 'accept-encoding': 'gzip, br' } })
    expect(stableHeaders(response)).toEqual({
      'content-type': type,
      'content-disposition': `attachment; filename="${name}"`,
      'content-length': String(response.body.length),
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
      'accept-ranges': 'bytes',
      'cache-control': 'public, no-cache',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': '*',
      'access-control-expose-headers':
        'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, Last-Modified, Retry-After, Warning',
    })
    const head = await server.request(`/export/${target}`, { method: 'HEAD' })
    expect([head.status, stableHeaders(head), head.body.length]).toEqual([200, stableHeaders(response), 0])
  })

  it('has a warning when the series lacks candles at an end of the range', async () => {
    // The newest hour opens at 2025-03-30 23:00.
    const there = 'candles from 2025-03-25 00:00 to 2025-03-30'
    const expected = (interval: string, last: string, short: number) =>
      `299 klines "You asked for 2025-03-25 00:00 to 2025-04-05 00:00 UTC; BTCUSDT ${interval}: ${there} ${last}: ${short} short at the end."`
    const { url } = await startTestServer(SAMPLE_TREE, { now: () => Date.UTC(2025, 3, 20) })
    const warningOf = async (query: string, method = 'GET') => {
      const response = await fetch(`${url}/export/1h/BTCUSDT.csv?${query}`, { method })
      await response.arrayBuffer()
      return response.headers.get('warning')
    }
    const range = 'from=2025-03-25&to=2025-04-05'
    expect(await warningOf(range)).toBe(expected('1h', '23:00', 120))
    expect(await warningOf(range, 'HEAD')).toBe(expected('1h', '23:00', 120))
    expect(await warningOf(`${range}&resample=12h`)).toBe(expected('12h', '12:00', 10))
    for (const whole of ['from=2025-03-25&to=2025-03-31', 'from=2025-03-25', '']) {
      expect([whole, await warningOf(whole)]).toEqual([whole, null])
    }
  })
})
