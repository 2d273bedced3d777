import { beforeEach, describe, expect, it } from 'vitest'
import { type Answer as Scripted, TreeServer } from '../../support/servers/tree-server.js'
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

let all: UpstreamSetup

describe('a service that is down (connection refused)', () => {
  beforeEach(async () => {
    all = await cachedSetup()
    await all.service.stop()
  })

  it('leaves what is held, with a warning, and what is final as ever', async () => {
    await expectCachedWithWarning(all)
    await expectFinalUnchanged(all)
    const part = await all.request(OPEN_WINDOW, { headers: { range: 'bytes=0-9' } })
    expect([part.status, part.headers['cache-control']]).toEqual([206, 'no-cache'])
    const unmodified = await all.request(OPEN_WINDOW, { headers: { 'if-none-match': '*' } })
    expect([unmodified.status, unmodified.headers['cache-control']]).toEqual([304, 'no-cache'])
    for (const { headers } of [part, unmodified]) expect(headers.warning).toMatch(/^111 /)
  })

  it('is 502 for what is not held, and leaves nothing of it', async () => {
    const before = all.storedPaths()
    expectErrorObject(await all.request(MISSING_WINDOW), 502)
    expect(all.storedPaths()).toEqual(before)
  })

  it('leaves the built-in lists, with a warning', async () => {
    const answer = await all.request('api/klines/symbols.json')
    expect([answer.status, JSON.parse(String(answer.body)).length]).toEqual([200, 10])
    expect(answer.headers.warning).toMatch(/^111 /)
  })

  it('is asked again as soon as it is back, also after it was given up many times', async () => {
    for (let failures = 0; failures < 25; failures++) expectErrorObject(await all.request(MISSING_WINDOW), 502)
    const back = await TreeServer.start(all.tree, Number(new URL(all.baseUrl).port))
    back.date = NOW
    putFile(all.tree, OPEN_WINDOW, GROWN, RENDERED + 60_000)
    const fresh = await all.request(OPEN_WINDOW)
    expect([fresh.status, fresh.headers.warning, fresh.body.equals(GROWN)]).toEqual([200, undefined, true])
    expect((await all.request(MISSING_WINDOW)).body.equals(all.original(MISSING_WINDOW))).toBe(true)
  })
})

describe('an answer that is none', () => {
  const rows = JSON.stringify(treeRows('ETHUSDT').get(FULL_WEEKS[0]))
  /** Announces more than it sends, and hangs up. */
  const cutShort: Scripted = (_, response) => {
    response.writeHead(200, { 'content-length': '99999' })
    response.write(rows, () => response.destroy())
  }
  const html = { headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html><p>Sign in</p>' }

  it.each<[string, Scripted]>([
    ['HTML', html],
    ['JSON that is cut', { body: rows.slice(0, 700) }],
    ['a body shorter than announced', cutShort],
    ['another shape', { body: '{"rows":[]}' }],
    ['the rows of another week', { body: JSON.stringify(treeRows('ETHUSDT').get(FULL_WEEKS[1])) }],
    ['a broken coding', { headers: { 'content-encoding': 'gzip' }, body: 'no gzip' }],
    ['a connection that is cut', request => request.socket.destroy()],
    ['500', { status: 500, body: 'oops' }],
    ['403', { status: 403, body: 'no' }],
    ['304 that nobody asked for', { status: 304 }],
    ['a redirect elsewhere', { status: 302, headers: { location: 'http://elsewhere.example/' } }],
    ['words that no header field can carry', { status: 500, body: '{"message":"\\"過負荷\\" \\\\ \\u0007"}' }],
  ])('%s: 502 for what is not held, nothing stored, what is held with a warning', async (_, answer) => {
    all = await cachedSetup()
    const before = all.storedPaths()
    for (const path of [MISSING_WINDOW, OPEN_WINDOW]) all.service.always(path, answer)
    expectErrorObject(await all.request(MISSING_WINDOW), 502)
    expect(all.storedPaths()).toEqual(before)
    // 304 is what a held window is asked for with.
    if (typeof answer === 'function' || answer.status !== 304) await expectCachedWithWarning(all)
    all.service.reset()
    expect((await all.request(MISSING_WINDOW)).body.equals(all.original(MISSING_WINDOW))).toBe(true)
  })

  it('however often: the next good one is taken', async () => {
    all = await cachedSetup()
    all.service.always(MISSING_WINDOW, html)
    for (let failures = 0; failures < 20; failures++) expectErrorObject(await all.request(MISSING_WINDOW), 502)
    all.service.reset()
    expect((await all.request(MISSING_WINDOW)).body.equals(all.original(MISSING_WINDOW))).toBe(true)
  })
})

describe('a service that is slower than the limit', () => {
  it('is 504 for what is not held, and a warning for what is; in time again, it is taken', async () => {
    all = await cachedSetup({ policy: { ...NO_PAUSE, baseDelayMs: 1, attemptMs: 600, fileMs: 700 } })
    all.service.hold = () => new Promise(() => {})
    expectErrorObject(await all.request(MISSING_WINDOW), 504)
    await expectCachedWithWarning(all)
    await expectFinalUnchanged(all)
    all.service.hold = () => {}
    expect((await all.request(MISSING_WINDOW)).body.equals(all.original(MISSING_WINDOW))).toBe(true)
  })
})
