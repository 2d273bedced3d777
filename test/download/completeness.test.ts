import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../src/engine/download.js'
import { publishMirror } from '../../src/engine/publish.js'
import { MirrorSource } from '../../src/download/sources/mirror-source.js'
import { openSource } from '../../src/download/sources/open-source.js'
import { exportKlines } from '../../src/engine/export.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { downloadSetup } from '../support/download-setup.js'
import { catchError } from '../support/errors.js'
import { onWarning } from '../support/events.js'
import { EXCHANGE_NOW } from '../support/exchange/market.js'
import { publishSetup } from '../support/published-mirror.js'
import { startTestServer } from '../support/servers/test-server.js'
import { snapshot } from '../support/snapshot.js'
import { NOW, PRESENT, putFile } from '../support/synthetic-tree.js'

/** When a window of 12h has begun that was published as an empty one. */
const LATER = Date.parse('2027-01-02')
const LATER_WINDOW = 'api/klines/12h/BTCUSDT/2027-01-01.json'

async function publishedSetup() {
  const setup = await publishSetup()
  await setup.download()
  await setup.publish()
  expect(setup.isComplete()).toBe(true)
  setup.exchange.reset()
  return setup
}

describe('a download into a complete mirror', () => {
  it('of a new series keeps it complete, with every window, and says otherwise until its end', async () => {
    const { mirror, download, exchange, isComplete, readJson } = await publishedSetup()
    const seen: boolean[] = []
    exchange.hold = path => void (path.includes('endTime') && seen.push(isComplete()))
    await download({ symbols: ['BTCEUR'] })
    expect(new Set(seen)).toEqual(new Set([false]))
    expect(isComplete()).toBe(true)
    expect(readJson('api/klines/symbols.json')).toEqual(['BTCUSDT', 'BTCEUR', 'PEPEUSDT'])
    for (const interval of ['12h', '1d']) {
      for (const date of readJson(`api/klines/start-dates/${interval}.json`))
        expect(existsSync(join(mirror, `api/klines/${interval}/BTCEUR/${date}.json`)), date).toBe(true)
    }
  })

  it('of a new series that fails for one window makes it incomplete', async () => {
    const { download, exchange, isComplete } = await publishedSetup()
    exchange.always(({ symbol, limit }) => symbol === 'BTCEUR' && limit === 1000, { status: 404, body: '{}' })
    expect(await catchError(download({ symbols: ['BTCEUR'] }))).toMatchObject({ code: 'incomplete' })
    expect(isComplete()).toBe(false)
  })

  it('of one interval of a new symbol, or of a new interval of one symbol, makes it incomplete', async () => {
    for (const request of [
      { symbols: ['BTCEUR'], intervals: ['1d'] },
      { symbols: ['BTCUSDT'], intervals: ['3d'] },
      { symbols: ['BTCEUR'], from: '2026-01-01' },
    ] as const) {
      const { download, isComplete } = await publishedSetup()
      await download({ ...request } as Parameters<typeof download>[0])
      expect(isComplete(), JSON.stringify(request)).toBe(false)
    }
  })

  it('of a window that has begun since keeps it complete, and says otherwise meanwhile', async () => {
    const { download, exchange, isComplete } = await publishedSetup()
    exchange.now = LATER
    const seen: boolean[] = []
    exchange.hold = path => void (path.includes('interval=12h') && seen.push(isComplete()))
    await download({ symbols: ['BTCUSDT'], now: LATER })
    expect(seen).toContain(false)
    // The other symbol's window has begun, too.
    expect(isComplete()).toBe(false)
    await download({ now: LATER })
    expect(isComplete()).toBe(false)
  })

  it('of all windows that have begun since keeps it complete', async () => {
    const { download, exchange, isComplete } = await publishedSetup()
    exchange.now = LATER
    await download({ now: LATER })
    expect(isComplete()).toBe(true)
  })

  it('that needs no new window leaves mirror.json as it is', async () => {
    const { mirror, download, exchange } = await publishedSetup()
    const before = snapshot(mirror)['mirror.json']
    exchange.now = EXCHANGE_NOW + 3_600_000
    await download({ now: EXCHANGE_NOW + 3_600_000 })
    expect(exchange.log.some(({ limit }) => limit === 1000)).toBe(true)
    expect(snapshot(mirror)['mirror.json']).toEqual(before)
  })

  it('by a source that stores nothing changes nothing', async () => {
    const { mirror, baseUrl, exchange } = await publishedSetup()
    exchange.now = LATER
    const before = snapshot(mirror)
    const source = await openSource({ baseUrl, mirror, now: LATER }, { readOnly: true })
    await source.contents.startDates('3d')
    expect(await source.window({ symbol: 'BTCUSDT', interval: '12h', startDate: '2027-01-01' })).toMatchObject({
      status: 'revalidated',
    })
    await source.close()
    expect(snapshot(mirror)).toEqual(before)
  })

  it('of a mirror that is not complete never makes it complete', async () => {
    const { download, isComplete } = await publishSetup()
    await download()
    await download({ symbols: ['BTCEUR'] })
    expect(isComplete()).toBe(false)
  })
})

describe('a server with that mirror', () => {
  it('makes it incomplete before it requests a window that has begun since', async () => {
    const { mirror, baseUrl, exchange, isComplete } = await publishedSetup()
    exchange.now = LATER
    const { request } = await startTestServer(mirror, {
      now: () => LATER,
      upstream: () => openSource({ baseUrl, mirror, now: LATER }, { memory: new Map() }),
    })
    exchange.hold = () => expect(isComplete()).toBe(false)
    expect((await request(LATER_WINDOW)).status).toBe(200)
    expect(exchange.log).toHaveLength(1)
    expect(isComplete()).toBe(false)
  })

  it('never requests a window of the future, also one that has a file', async () => {
    const { mirror, baseUrl, exchange } = await publishedSetup()
    const { request } = await startTestServer(mirror, {
      now: () => EXCHANGE_NOW,
      upstream: () => openSource({ baseUrl, mirror, now: EXCHANGE_NOW }, { memory: new Map() }),
    })
    const { status, body } = await request(LATER_WINDOW)
    expect([status, String(body)]).toEqual([200, '[]'])
    // Its clock decides what is the future.
    expect(exchange.log.map(({ kind }) => kind)).toEqual(['time'])
  })
})

describe('a window without a file in a complete mirror', () => {
  const source = (mirror: string, now = EXCHANGE_NOW) => new MirrorSource(new Mirror(mirror), { now, warn: () => {} })

  it('is empty where the lists name its series, and missing elsewhere', async () => {
    const { mirror } = await publishedSetup()
    for (const [symbol, interval, expected] of [
      ['BTCUSDT', '12h', 'cached'],
      ['BTCUSDT', '3d', 'failed'],
      ['BTCEUR', '12h', 'failed'],
    ] as const) {
      const window = { symbol, interval, startDate: interval === '3d' ? '2020-01-01' : '2024-01-01' }
      rmSync(join(mirror, `api/klines/${interval}/${symbol}/2024-01-01.json`), { force: true })
      const result = await source(mirror).window(window)
      expect([symbol, interval, result.status]).toEqual([symbol, interval, expected])
      expect(source(mirror).costs.cacheState(window)).toBe(expected === 'cached' ? 'cached' : 'missing')
      const { request } = await startTestServer(mirror, { now: () => EXCHANGE_NOW })
      const path = `api/klines/${interval}/${symbol}/${window.startDate}.json`
      expect((await request(path)).status, path).toBe(expected === 'cached' ? 200 : 404)
    }
    putFile(mirror, 'api/klines/symbols.json', '["BTCUSDT"')
    expect(source(mirror).costs.cacheState({ symbol: 'BTCUSDT', interval: '12h', startDate: '2024-01-01' })).toBe(
      'missing',
    )
    rmSync(join(mirror, 'api/klines/symbols.json'))
    expect(source(mirror).costs.cacheState({ symbol: 'BTCUSDT', interval: '12h', startDate: '2024-01-01' })).toBe(
      'cached',
    )
  })
})

describe('reading a published mirror later, offline', () => {
  const NOTE =
    /^The mirror's 12h candles are as of 2026-04-30; windows that have started or ended since: 2\. Run klines download/

  it('has a note about windows that have begun since, unless the range ends before', async () => {
    const { mirror } = await publishedSetup()
    const read = async (now: number, range: { to?: string } = {}) => {
      const warnings: string[] = []
      const output = join(mirror, '..', 'x.csv')
      const request = { symbols: ['BTCUSDT'], intervals: ['12h'] as const, offline: true, force: true, output }
      await exportKlines({ ...request, ...range, mirror, now, onEvent: onWarning(text => warnings.push(text)) })
      expect(readFileSync(output, 'utf8')).toContain('\n')
      return warnings
    }
    expect(await read(EXCHANGE_NOW)).toEqual([])
    expect(await read(LATER)).toEqual([expect.stringMatching(NOTE)])
    expect(await read(LATER, { to: '2027-01-02' })).toEqual([expect.stringMatching(NOTE)])
    // The window of 2026 has ended since it was stored.
    expect(await read(LATER, { to: '2027-01-01' })).toEqual([expect.stringContaining('started or ended since: 1.')])
    expect(await read(LATER, { to: '2026-01-01' })).toEqual([])
  })

  it('has it for a mirror of a static service too, unless a download has looked since', async () => {
    const { request, warnings, server } = await downloadSetup()
    await downloadKlines(request)
    await publishMirror({ mirror: request.mirror, now: NOW })
    const output = join(request.mirror, '..', 'x.csv')
    await exportKlines({ ...request, offline: true, now: PRESENT, output })
    const note = /^The mirror's 15m candles are as of 2025-02-12; windows that have started or ended since: 1\./
    expect(warnings).toEqual([expect.stringMatching(note)])
    server.date = PRESENT
    await downloadKlines({ ...request, now: PRESENT })
    warnings.length = 0
    await exportKlines({ ...request, offline: true, now: PRESENT, output, force: true })
    expect(warnings).toEqual([])
  })
})
