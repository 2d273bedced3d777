import { describe, expect, it } from 'vitest'
import { upstreamSetup } from '../support/servers/upstream-setup.js'
import { FULL_WEEKS, weekPath } from '../support/synthetic-tree.js'

const WINDOW = weekPath('BTCUSDT', FULL_WEEKS[0])
const EXPORT = `export/15m/BTCUSDT.csv?from=${FULL_WEEKS[0]}&to=${FULL_WEEKS[1]}`
const PAGES = ['', 'reference', 'coverage.json', 'coverage/15m/BTCUSDT.json', 'chart/BTCUSDT/15m']

describe('F84 a page of another site', () => {
  it.each([WINDOW, EXPORT, 'api/klines/symbols.json'])('cannot make the server download: %s', async path => {
    const { request, service, storedPaths } = await upstreamSetup()
    await request(path, { headers: { 'sec-fetch-site': 'cross-site' } })
    expect([service.log, storedPaths()]).toEqual([[], []])
    // The pages of this server, and programs, can.
    for (const site of ['same-site', 'same-origin', 'none']) {
      expect((await request(path, { headers: { 'sec-fetch-site': site } })).status).toBe(200)
    }
    expect(service.log.length).toBeGreaterThan(0)
  })

  it('reads what is cached, as before', async () => {
    const { request, service, original } = await upstreamSetup()
    expect((await request(WINDOW)).status).toBe(200)
    service.reset()
    const { status, headers, body } = await request(WINDOW, { headers: { 'sec-fetch-site': 'cross-site' } })
    expect([status, headers['access-control-allow-origin'], body.equals(original(WINDOW))]).toEqual([200, '*', true])
    expect(service.log).toEqual([])
  })

  it.each(PAGES)('cannot read what is mirrored, and may link to it: /%s', async path => {
    const { request } = await upstreamSetup()
    const { status, headers } = await request(path, { headers: { 'sec-fetch-site': 'cross-site' } })
    expect([status, headers['access-control-allow-origin']]).toEqual([200, undefined])
  })
})
