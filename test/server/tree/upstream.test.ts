import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../support/deferred.js'
import { parseErrorObject } from '../../support/servers/test-server.js'
import { serveUpstream, upstreamSetup } from '../../support/servers/upstream-setup.js'
import {
  candle,
  EMPTY_WEEK,
  FULL_WEEKS,
  FUTURE_WEEK,
  NOW,
  OPEN_WEEK,
  putFile,
  RENDERED,
  treeRows,
  weekPath,
  weekRows,
  windowBytes,
} from '../../support/synthetic-tree.js'

const FULL = weekPath('BTCUSDT', FULL_WEEKS[0])
const OPEN = weekPath('BTCUSDT', OPEN_WEEK)
const openRows = treeRows('BTCUSDT').get(OPEN_WEEK) ?? []
/** The open week with one candle more. */
const GROWN = windowBytes([...openRows, candle(Date.parse(OPEN_WEEK) + 2 * 86_400_000)])
const httpDate = (time: number) => new Date(time).toUTCString()

let setup: Awaited<ReturnType<typeof upstreamSetup>>
beforeEach(async () => {
  setup = await upstreamSetup()
})

describe('a missing window', () => {
  it('is requested once for 50 clients, stored byte by byte with its time, and served', async () => {
    const { service, mirror, requestAtOnce, original, stored } = setup
    const responses = await requestAtOnce(50, FULL)
    expect(service.log).toHaveLength(1)
    for (const { status, headers, body } of responses) {
      expect([status, headers['last-modified'], headers.warning]).toEqual([200, httpDate(RENDERED), undefined])
      expect(body.equals(original(FULL))).toBe(true)
    }
    expect(stored(FULL)?.equals(original(FULL))).toBe(true)
    expect(statSync(join(mirror, FULL)).mtimeMs).toBe(RENDERED)
  })

  it('makes the folder a mirror of that base address', async () => {
    const { service, request, mirror } = setup
    await request(FULL)
    const other = serveUpstream(`${service.url}/elsewhere`, mirror)
    await expect(other).rejects.toMatchObject({ code: 'mirror_mismatch' })
  })

  it('that the service lacks is 404, and requested again each time', async () => {
    const { service, request, storedPaths } = setup
    for (const path of [weekPath('DOTUSDT', FULL_WEEKS[0]), weekPath('BTCUSDT', '2024-01-01')]) {
      const response = await request(path)
      expect([response.status, parseErrorObject(response).statusCode]).toEqual([404, 404])
      service.log.length = 0
      await request(path)
      expect(service.paths()).toEqual([path])
    }
    expect(storedPaths()).toEqual([])
  })

  it('of the future is [] without a request', async () => {
    const { service, request, storedPaths } = setup
    for (const path of [weekPath('BTCUSDT', FUTURE_WEEK), 'api/klines/1h/SOLUSDT/2039-12-01.json']) {
      const { status, body } = await request(path)
      expect([status, String(body)]).toEqual([200, '[]'])
    }
    expect(service.log).toEqual([])
    expect(storedPaths()).toEqual([])
  })

  it('is fetched for the other clients when one disconnects', async () => {
    const { service, request, original, stored } = setup
    let release = () => {}
    service.hold = () =>
      new Promise<void>(resolve => {
        release = resolve
      })
    const leaving = new AbortController()
    const aborted = request(FULL, { signal: leaving.signal }).catch((error: Error) => error.name)
    await until(() => service.log.length === 1)
    const remaining = request(FULL)
    leaving.abort()
    expect(await aborted).toBe('AbortError')
    release()
    expect((await remaining).body.equals(original(FULL))).toBe(true)
    expect(stored(FULL)?.equals(original(FULL))).toBe(true)
    expect(service.log).toHaveLength(1)
  })
})

describe('a cached window', () => {
  it('that is final is never requested again, also by the next server', async () => {
    const { service, mirror, request, original } = setup
    await request(FULL)
    service.reset()
    await request(FULL)
    const next = await serveUpstream(service.url, mirror)
    expect((await next.request(FULL)).body.equals(original(FULL))).toBe(true)
    expect(service.log).toEqual([])
  })

  it('that is empty is not requested again once a later one with candles is known for a day', async () => {
    const { service, request } = setup
    const path = weekPath('BTCUSDT', EMPTY_WEEK)
    service.date = NOW - 86_400_000
    for (const requested of [path, FULL, path]) expect((await request(requested)).status).toBe(200)
    service.date = NOW
    for (const requested of [path, path, path]) expect((await request(requested)).status).toBe(200)
    expect(service.paths()).toEqual([path, FULL, path, path])
  })

  it('that is open is revalidated by its time, and kept when unchanged', async () => {
    const { service, request, original } = setup
    const first = await request(OPEN)
    const second = await request(OPEN)
    expect(service.log.map(({ status, headers }) => [status, headers['if-modified-since']])).toEqual([
      [200, undefined],
      [304, httpDate(RENDERED)],
    ])
    expect([second.status, second.headers.etag, second.headers.warning]).toEqual([200, first.headers.etag, undefined])
    expect(second.body.equals(original(OPEN))).toBe(true)
  })

  it('that is open is replaced as soon as the service has a new version', async () => {
    const { service, tree, request, stored } = setup
    const before = await request(OPEN)
    putFile(tree, OPEN, GROWN, RENDERED + 60_000)
    const after = await request(OPEN)
    expect(after.body.equals(GROWN)).toBe(true)
    expect(after.headers['last-modified']).toBe(httpDate(RENDERED + 60_000))
    expect(after.headers.etag).not.toBe(before.headers.etag)
    expect(stored(OPEN)?.equals(GROWN)).toBe(true)
    expect((await request(OPEN, { headers: { 'if-none-match': String(after.headers.etag) } })).status).toBe(304)
    expect(service.log.map(({ status }) => status)).toEqual([200, 200, 304])
  })

  it('is kept when the new version lacks rows', async () => {
    const { tree, request, original, stored } = setup
    await request(OPEN)
    const full = original(OPEN)
    for (const less of [openRows.slice(1), openRows.slice(0, 1), []]) {
      putFile(tree, OPEN, less, RENDERED + 60_000)
      const { status, body } = await request(OPEN)
      expect([status, body.equals(full), stored(OPEN)?.equals(full)]).toEqual([200, true, true])
    }
  })

  it('that is corrupt is fetched again, and never served', async () => {
    const { mirror, request, original, stored } = setup
    await request(FULL)
    for (const damage of [
      () => truncateSync(join(mirror, FULL), 500),
      () => writeFileSync(join(mirror, FULL), windowBytes(weekRows(FULL_WEEKS[1]))),
    ]) {
      damage()
      const { status, body } = await request(FULL)
      expect([status, body.equals(original(FULL)), stored(FULL)?.equals(original(FULL))]).toEqual([200, true, true])
    }
  })
})
