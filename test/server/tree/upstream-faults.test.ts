import { beforeEach, describe, expect, it } from 'vitest'
import { type Answer as ScriptedResponse, TreeServer } from '../../support/servers/tree-server.js'
import {
  cachedSetup,
  expectCachedWithWarning,
  expectErrorObject,
  expectFinalUnchanged,
  MISSING_WINDOW,
  OPEN_WINDOW,
  type UpstreamSetup,
} from '../../support/servers/upstream-checks.js'
import { NO_PAUSE } from '../../support/servers/upstream-setup.js'
import {
  candle,
  FULL_WEEKS,
  NOW,
  OPEN_WEEK,
  putFile,
  RENDERED,
  treeRows,
  windowBytes,
} from '../../support/synthetic-tree.js'

const GROWN = windowBytes([
  ...(treeRows('BTCUSDT').get(OPEN_WEEK) ?? []),
  candle(Date.parse(OPEN_WEEK) + 2 * 86_400_000),
])

let setup: UpstreamSetup

describe('a service that is down (connection refused)', () => {
  beforeEach(async () => {
    setup = await cachedSetup()
    await setup.service.stop()
  })

  it('cached windows are served with a warning, final ones without', async () => {
    await expectCachedWithWarning(setup)
    await expectFinalUnchanged(setup)
    const part = await setup.request(OPEN_WINDOW, { headers: { range: 'bytes=0-9' } })
    expect([part.status, part.headers['cache-control']]).toEqual([206, 'no-cache'])
    const unmodified = await setup.request(OPEN_WINDOW, { headers: { 'if-none-match': '*' } })
    expect([unmodified.status, unmodified.headers['cache-control']]).toEqual([304, 'no-cache'])
    for (const { headers } of [part, unmodified]) expect(headers.warning).toMatch(/^111 /)
  })

  it('a missing window is 502, and nothing is stored', async () => {
    const before = setup.storedPaths()
    expectErrorObject(await setup.request(MISSING_WINDOW), 502)
    expect(setup.storedPaths()).toEqual(before)
  })

  it('the built-in lists are served with a warning', async () => {
    const response = await setup.request('api/klines/symbols.json')
    expect([response.status, JSON.parse(String(response.body)).length]).toEqual([200, 10])
    expect(response.headers.warning).toMatch(/^111 /)
  })

  it('it is requested again as soon as it is back, also after many failures', async () => {
    for (let failures = 0; failures < 25; failures++) expectErrorObject(await setup.request(MISSING_WINDOW), 502)
    const back = await TreeServer.start(setup.tree, Number(new URL(setup.baseUrl).port))
    back.date = NOW
    putFile(setup.tree, OPEN_WINDOW, GROWN, RENDERED + 60_000)
    const fresh = await setup.request(OPEN_WINDOW)
    expect([fresh.status, fresh.headers.warning, fresh.body.equals(GROWN)]).toEqual([200, undefined, true])
    expect((await setup.request(MISSING_WINDOW)).body.equals(setup.original(MISSING_WINDOW))).toBe(true)
  })
})

describe('an invalid response of the service', () => {
  const rows = JSON.stringify(treeRows('ETHUSDT').get(FULL_WEEKS[0]))
  /** Announces more bytes than it sends, and disconnects. */
  const cutShort: ScriptedResponse = (_, response) => {
    response.writeHead(200, { 'content-length': '99999' })
    response.write(rows, () => response.destroy())
  }
  const html = { headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html><p>Sign in</p>' }

  it.each<[string, ScriptedResponse]>([
    ['HTML', html],
    ['a body shorter than announced', cutShort],
    ['the rows of another week', { body: JSON.stringify(treeRows('ETHUSDT').get(FULL_WEEKS[1])) }],
    ['500', { status: 500, body: 'oops' }],
    ['304 to an unconditional request', { status: 304 }],
    ['a redirect elsewhere', { status: 302, headers: { location: 'http://elsewhere.example/' } }],
    ['a message that no header field can carry', { status: 500, body: '{"message":"\\"過負荷\\" \\\\ \\u0007"}' }],
  ])('%s: a missing window is 502, nothing is stored, a cached one has a warning', async (_, response) => {
    setup = await cachedSetup()
    const before = setup.storedPaths()
    for (const path of [MISSING_WINDOW, OPEN_WINDOW]) setup.service.always(path, response)
    expectErrorObject(await setup.request(MISSING_WINDOW), 502)
    expect(setup.storedPaths()).toEqual(before)
    // For a cached window 304 is a valid response.
    if (typeof response === 'function' || response.status !== 304) await expectCachedWithWarning(setup)
    setup.service.reset()
    expect((await setup.request(MISSING_WINDOW)).body.equals(setup.original(MISSING_WINDOW))).toBe(true)
  })
})

describe('a service that is slower than the limit', () => {
  it('a missing window is 504, a cached one has a warning; a response in time is accepted again', async () => {
    setup = await cachedSetup({ policy: { ...NO_PAUSE, attemptMs: 600 } })
    setup.service.hold = () => new Promise(() => {})
    expectErrorObject(await setup.request(MISSING_WINDOW), 504)
    await expectCachedWithWarning(setup)
    await expectFinalUnchanged(setup)
    setup.service.hold = () => {}
    expect((await setup.request(MISSING_WINDOW)).body.equals(setup.original(MISSING_WINDOW))).toBe(true)
  })
})
