import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { type SendRequest, startTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, makeTree, NOW, OPEN_WEEK, putFile, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

async function fetchJson(request: SendRequest, path: string) {
  const { status, body } = await request(path)
  expect(status, path).toBe(200)
  return JSON.parse(String(body))
}

describe('/coverage.json', () => {
  it('counts the windows of each series by their files', async () => {
    const root = makeTree(tempFolder())
    putFile(root, 'mirror.json', { layout: 1, baseUrl: 'https://example.com/x' })
    rmSync(join(root, weekPath('ETHUSDT', FULL_WEEKS[2])))
    const { request } = await startTestServer(root)
    const coverage = await fetchJson(request, '/coverage.json')
    expect(coverage).toMatchObject({
      source: { kind: 'service', address: 'https://example.com/x' },
      upstream: false,
    })
    expect(coverage.symbols.slice(0, 2)).toEqual(['BTCUSDT', 'ETHUSDT'])
    // Eight files each: one before the listing and one of the future are empty.
    const bitcoin = { symbol: 'BTCUSDT', interval: '15m', windows: 8, empty: 2 }
    expect(coverage.series).toMatchObject([bitcoin, { ...bitcoin, symbol: 'ETHUSDT', windows: 7 }])
    const { firstOpenTime, lastOpenTime } = coverage.series[1]
    expect([firstOpenTime, lastOpenTime > Date.parse('2025-02-10')]).toEqual([Date.parse('2025-01-06'), true])
    expect(await fetchJson(request, '/coverage/15m/ETHUSDT.json')).toEqual({
      ...coverage.series[1],
      known: true,
      missingStartDates: [FULL_WEEKS[2]],
      upstream: false,
      now: NOW,
    })
    rmSync(join(root, weekPath('BTCUSDT', OPEN_WEEK)))
    expect((await fetchJson(request, '/coverage/15m/BTCUSDT.json')).missingStartDates).toEqual([])
  })

  it('the sample, which has no files of empty windows, lacks nothing', async () => {
    const root = makeTree(tempFolder())
    putFile(root, 'mirror.json', { baseUrl: 'sample' })
    rmSync(join(root, weekPath('ETHUSDT', FULL_WEEKS[2])))
    const { request } = await startTestServer(root)
    expect((await fetchJson(request, '/coverage/15m/ETHUSDT.json')).missingStartDates).toEqual([])
  })

  it('of a series that is not cached says so; other names are 404', async () => {
    const { request } = await startTestServer(SAMPLE_TREE)
    const nothing = { windows: 0, empty: 0, missingStartDates: [], known: false }
    expect(await fetchJson(request, '/coverage/1h/NOPE.json')).toMatchObject(nothing)
    expect((await fetchJson(request, '/coverage.json')).source).toEqual({ kind: 'sample' })
    for (const path of ['/coverage/1s/BTCUSDT.json', '/coverage/1h/btc.json', '/coverage/1h/..%2f.json', '/coverage']) {
      expect((await request(path)).status, path).toBe(404)
    }
  })
})
