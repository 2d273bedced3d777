import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../support/deferred.js'
import { parseErrorObject } from '../../support/servers/test-server.js'
import { serveUpstream, upstreamSetup } from '../../support/servers/upstream-setup.js'
import {
  candle,
  EMPTY_WEEK,
  FULL_WEEKS,
  FUTURE_WEEK,
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
const date = (time: number) => new Date(time).toUTCString()

let all: Awaited<ReturnType<typeof upstreamSetup>>
beforeEach(async () => {
  all = await upstreamSetup()
})

describe('a window that is not held', () => {
  it('is asked for once though 50 clients wait, stored byte for byte with its time, and served', async () => {
    const { service, mirror, requestAtOnce, original, stored } = all
    const answers = await requestAtOnce(50, FULL)
    expect(service.log).toHaveLength(1)
    for (const { status, headers, body } of answers) {
      expect([status, headers['last-modified'], headers.warning]).toEqual([200, date(RENDERED), undefined])
      expect(body.equals(original(FULL))).toBe(true)
    }
    expect(stored(FULL)?.equals(original(FULL))).toBe(true)
    expect(statSync(join(mirror, FULL)).mtimeMs).toBe(RENDERED)
  })

  it('is stored as it is though it came coded and goes on in another coding', async () => {
    const { service, request, original, stored } = all
    const answer = await request(FULL, { headers: { 'accept-encoding': 'gzip' } })
    expect(gunzipSync(answer.body).equals(original(FULL))).toBe(true)
    expect(stored(FULL)?.equals(original(FULL))).toBe(true)
    expect(service.log).toHaveLength(1)
  })

  it('makes the folder a mirror of that address', async () => {
    const { service, request, mirror } = all
    await request(FULL)
    const other = serveUpstream(`${service.url}/elsewhere`, mirror)
    await expect(other).rejects.toMatchObject({ code: 'mirror_mismatch' })
  })

  it('of which the service has none is 404, and asked for again each time', async () => {
    const { service, request, storedPaths } = all
    for (const path of [weekPath('DOTUSDT', FULL_WEEKS[0]), weekPath('BTCUSDT', '2024-01-01')]) {
      const answer = await request(path)
      expect([answer.status, parseErrorObject(answer).statusCode]).toEqual([404, 404])
      service.log.length = 0
      await request(path)
      expect(service.paths()).toEqual([path])
    }
    expect(storedPaths()).toEqual([])
  })

  it('is answered [] without a request when it lies in the future', async () => {
    const { service, request, storedPaths } = all
    for (const path of [weekPath('BTCUSDT', FUTURE_WEEK), 'api/klines/1h/SOLUSDT/2039-12-01.json']) {
      const { status, body } = await request(path)
      expect([status, String(body)]).toEqual([200, '[]'])
    }
    expect(service.log).toEqual([])
    expect(storedPaths()).toEqual([])
  })

  it('is not even asked for when the path is none of the tree', async () => {
    const { service, request } = all
    for (const path of [weekPath('BTCUSDT', '2025-01-07'), 'api/klines/../../secret', 'api/klines/5m.json']) {
      expect((await request(path)).status).toBe(404)
    }
    expect(service.log).toEqual([])
  })

  it('is brought whole for the others when a client leaves', async () => {
    const { service, request, original, stored } = all
    let release = () => {}
    service.hold = () =>
      new Promise<void>(resolve => {
        release = resolve
      })
    const leaving = new AbortController()
    const left = request(FULL, { signal: leaving.signal }).catch((error: Error) => error.name)
    await until(() => service.log.length === 1)
    const stays = request(FULL)
    leaving.abort()
    expect(await left).toBe('AbortError')
    release()
    expect((await stays).body.equals(original(FULL))).toBe(true)
    expect(stored(FULL)?.equals(original(FULL))).toBe(true)
    expect(service.log).toHaveLength(1)
  })
})

describe('a window that is held', () => {
  it('and final is never asked for again, nor by the next server', async () => {
    const { service, mirror, request, original } = all
    await request(FULL)
    service.reset()
    await request(FULL)
    const next = await serveUpstream(service.url, mirror)
    expect((await next.request(FULL)).body.equals(original(FULL))).toBe(true)
    expect(service.log).toEqual([])
  })

  it('and empty is not asked for again once a later one with candles is held', async () => {
    const { service, request } = all
    const path = weekPath('BTCUSDT', EMPTY_WEEK)
    for (const asked of [path, path, FULL, path, path]) expect((await request(asked)).status).toBe(200)
    expect(service.paths()).toEqual([path, path, FULL])
  })

  it('and open is revalidated by its time, and kept when it is the same', async () => {
    const { service, request, original } = all
    const first = await request(OPEN)
    const second = await request(OPEN)
    expect(service.log.map(({ status, headers }) => [status, headers['if-modified-since']])).toEqual([
      [200, undefined],
      [304, date(RENDERED)],
    ])
    expect([second.status, second.headers.etag, second.headers.warning]).toEqual([200, first.headers.etag, undefined])
    expect(second.body.equals(original(OPEN))).toBe(true)
  })

  it('and open is the new version as soon as the service has one', async () => {
    const { service, tree, request, stored } = all
    const before = await request(OPEN)
    putFile(tree, OPEN, GROWN, RENDERED + 60_000)
    const after = await request(OPEN)
    expect(after.body.equals(GROWN)).toBe(true)
    expect(after.headers['last-modified']).toBe(date(RENDERED + 60_000))
    expect(after.headers.etag).not.toBe(before.headers.etag)
    expect(stored(OPEN)?.equals(GROWN)).toBe(true)
    expect((await request(OPEN, { headers: { 'if-none-match': String(after.headers.etag) } })).status).toBe(304)
    expect(service.log.map(({ status }) => status)).toEqual([200, 200, 304])
  })

  it('and open is revalidated once for 50 clients at once', async () => {
    const { service, tree, request, requestAtOnce } = all
    await request(OPEN)
    service.log.length = 0
    putFile(tree, OPEN, GROWN, RENDERED + 60_000)
    const answers = await requestAtOnce(50, OPEN)
    expect(service.log).toHaveLength(1)
    expect(answers.every(({ status, body }) => status === 200 && body.equals(GROWN))).toBe(true)
  })

  it('stays as it is when the new version has lost rows', async () => {
    const { tree, request, original, stored } = all
    await request(OPEN)
    const full = original(OPEN)
    for (const less of [openRows.slice(1), openRows.slice(0, 1), []]) {
      putFile(tree, OPEN, less, RENDERED + 60_000)
      const { status, body } = await request(OPEN)
      expect([status, body.equals(full), stored(OPEN)?.equals(full)]).toEqual([200, true, true])
    }
  })

  it('and damaged is fetched again, and never served', async () => {
    const { mirror, request, original, stored } = all
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
