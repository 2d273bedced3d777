import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/server/http/limits.js'
import { expectedSeries, hasRealTree, realTree } from '../../support/oracles/real-tree.js'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { type SendRequest, startTestServer } from '../../support/servers/test-server.js'
import { candle, FULL_WEEKS, makeTree, NOW, putFile, RENDERED, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const WEEK = 604_800_000

async function fetchJson(request: SendRequest, path: string) {
  const { status, body } = await request(path)
  expect(status, path).toBe(200)
  return JSON.parse(String(body))
}

/** The survey, asked for again until it is done. */
async function fetchSurvey(request: SendRequest) {
  for (;;) {
    const survey = await fetchJson(request, '/coverage/candles.json')
    if (survey.state !== 'running') return survey
    expect(survey.done).toBeLessThanOrEqual(survey.total)
  }
}

const find = <T extends { symbol: string }>(series: T[], symbol: string) => series.find(one => one.symbol === symbol)

describe('/coverage.json', () => {
  it('counts the windows of each series by their files', async () => {
    const root = makeTree(tempFolder())
    putFile(root, 'mirror.json', { layout: 1, baseUrl: 'https://example.com/x', complete: false })
    rmSync(join(root, weekPath('ETHUSDT', FULL_WEEKS[2])))
    const { request } = await startTestServer(root)
    const coverage = await fetchJson(request, '/coverage.json')
    expect(coverage).toMatchObject({
      source: { kind: 'service', address: 'https://example.com/x' },
      upstream: false,
      now: NOW,
      updatedTime: RENDERED,
    })
    expect(coverage.symbols.slice(0, 2)).toEqual(['BTCUSDT', 'ETHUSDT'])
    // Eight files each: one before the listing and one of the future are empty.
    const bitcoin = { symbol: 'BTCUSDT', interval: '15m', windows: 8, empty: 2, missing: 0 }
    const dates = { firstStartDate: '2025-01-06', lastStartDate: '2025-02-10' }
    expect(coverage.series).toMatchObject([
      { ...bitcoin, ...dates },
      { ...bitcoin, ...dates, symbol: 'ETHUSDT', windows: 7, missing: 1 },
    ])
    expect(await fetchJson(request, '/coverage/15m/ETHUSDT.json')).toEqual({
      ...coverage.series[1],
      known: true,
      missingStartDates: [FULL_WEEKS[2]],
      upstream: false,
      now: NOW,
    })
  })

  it('a complete mirror lacks nothing', async () => {
    const root = makeTree(tempFolder())
    putFile(root, 'mirror.json', { layout: 1, baseUrl: 'https://example.com/x', complete: true })
    rmSync(join(root, weekPath('ETHUSDT', FULL_WEEKS[2])))
    const { request } = await startTestServer(root)
    expect((await fetchJson(request, '/coverage/15m/ETHUSDT.json')).missing).toBe(0)
  })

  it('of a series that is not cached says so; other names are 404', async () => {
    const { request } = await startTestServer(SAMPLE_TREE)
    const nothing = { windows: 0, empty: 0, missing: 0, known: false }
    expect(await fetchJson(request, '/coverage/1h/NOPE.json')).toMatchObject(nothing)
    expect((await fetchJson(request, '/coverage.json')).source).toEqual({ kind: 'sample' })
    for (const path of ['/coverage/1s/BTCUSDT.json', '/coverage/1h/btc.json', '/coverage/1h/..%2f.json', '/coverage']) {
      expect((await request(path)).status, path).toBe(404)
    }
  })
})

describe('/coverage/candles.json', () => {
  it('counts missing candles, outages, missing and corrupt windows, and counts again when the mirror has changed', async () => {
    const root = tempFolder()
    const start = Date.parse(FULL_WEEKS[0])
    putFile(root, 'api/klines/symbols.json', ['BTCUSDT', 'ETHUSDT'])
    putFile(root, 'api/klines/start-dates/15m.json', FULL_WEEKS)
    // Three candles are missing in the middle of a window; of the second symbol the middle one.
    const rows = (steps: number[]) => steps.map(step => candle(start + step * 900_000))
    putFile(root, weekPath('BTCUSDT', FULL_WEEKS[0]), rows([0, 1, 5, 6]))
    putFile(root, weekPath('ETHUSDT', FULL_WEEKS[0]), rows([0, 1, 2, 4, 5, 6]))
    const { request } = await startTestServer(root, { limits: { ...LIMITS, surveyMs: 0 } })
    const { series } = await fetchSurvey(request)
    const clean = { firstOpenTime: start, corruptWindows: 0, missingWindows: 0, gaps: 1 }
    // Of the longer gap, the other symbol lacks a third only.
    const longer = { candles: 4, missingCandles: 3, outages: 0, lastOpenTime: start + 6 * 900_000 }
    expect(find(series, 'BTCUSDT')).toMatchObject({ ...clean, ...longer })
    expect(find(series, 'ETHUSDT')).toMatchObject({ ...clean, candles: 6, missingCandles: 1, outages: 1 })

    putFile(root, weekPath('BTCUSDT', FULL_WEEKS[1]), '[[1]]')
    putFile(root, weekPath('BTCUSDT', FULL_WEEKS[3]), [candle(start + 3 * WEEK)])
    // The result before is shown until the next one is there.
    await expect
      .poll(async () => find((await fetchSurvey(request)).series, 'BTCUSDT'), { timeout: 60_000 })
      .toMatchObject({ candles: 5, corruptWindows: 1, missingWindows: 1 })
  })

  it('survives many requests at once, and a server that closes meanwhile', async () => {
    const { request, close } = await startTestServer(SAMPLE_TREE)
    const answers = await Promise.all(Array.from({ length: 20 }, () => request('/coverage/candles.json')))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    await close()
  })

  it.skipIf(!hasRealTree)('of real candles has the numbers of an independent program', async () => {
    const expected = expectedSeries()
    const { request } = await startTestServer(realTree())
    const { series } = await fetchSurvey(request)
    expect(series).toHaveLength(36)
    for (const { symbol, interval, candles, gaps, missingCandles, lastOpenTime } of series) {
      const { rows, missing, ...truth } = expected[symbol][interval]
      expect([candles, gaps, missingCandles, lastOpenTime]).toEqual([rows, truth.gaps, missing, truth.lastOpenTime])
    }
  })
})
