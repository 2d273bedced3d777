import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportKlines } from '../../src/engine/export.js'
import { indexPath } from '../../src/mirror/series-index.js'
import { verifyKlines } from '../../src/verify/verify.js'
import { GrowingMirror } from './support/growing-mirror.js'
import { type GrowingService, growingExchange, growingTree, type Lie } from './support/growing-service.js'

const HOUR = 3_600_000

const KINDS: [string, () => Promise<GrowingService>][] = [
  ['a static service', growingTree],
  ['the exchange', () => growingExchange()],
]

type Change = (rows: unknown[]) => unknown[] | undefined

/** What happens to the file of a window, and what `verify` says then; undefined removes it. */
const DAMAGES: [string, 'oldest' | 'newest', Change, string][] = [
  ['last half', 'newest', rows => rows.slice(0, rows.length / 2), 'failed'],
  ['all rows', 'newest', () => [], 'failed'],
  ['file', 'newest', () => undefined, 'incomplete'],
  ['first row', 'oldest', rows => rows.slice(1), 'failed'],
  ['file', 'oldest', () => undefined, 'incomplete'],
]

/** A mirror of one series, and the files of its windows with candles. */
async function setUp(open: () => Promise<GrowingService>) {
  const mirror = new GrowingMirror(await open())
  mirror.advance(mirror.service.end - mirror.time)
  for (let run = 0; run < 2; run++) {
    await mirror.download()
    mirror.advance(2 * HOUR)
  }
  const paths = mirror.service.startDates.map(date => join(mirror.mirror, mirror.service.path(date)))
  const populated = paths.filter(path => existsSync(path) && readFileSync(path, 'utf8') !== '[]')
  const { symbols, intervals } = mirror.service.request
  const request = { mirror: mirror.mirror, now: mirror.time }
  const all = { symbols: 'all', intervals: 'all', ...request } as const
  const verify = (named: Partial<GrowingService['request']> = all) => verifyKlines({ ...all, ...named })
  return { mirror, populated, named: { symbols, intervals }, all, verify }
}

describe.each(KINDS)('F77 in a mirror of %s', (_, open) => {
  it('what the oldest or the newest window lacks is missed, and downloaded again', async () => {
    const { mirror, populated, named, verify } = await setUp(open)
    for (const [what, place, change, verdict] of DAMAGES) {
      expect((await verify()).verdict).toBe('ok')
      const file = (place === 'newest' ? populated.at(-1) : populated[0]) as string
      const { mtimeMs } = statSync(file)
      const rows = change(JSON.parse(readFileSync(file, 'utf8')))
      if (rows === undefined) rmSync(file)
      else {
        writeFileSync(file, JSON.stringify(rows))
        utimesSync(file, mtimeMs / 1000, mtimeMs / 1000)
      }
      for (const series of [undefined, named]) {
        const found = await verify(series)
        expect([what, place, found.verdict]).toEqual([what, place, verdict])
        const reasons = verdict === 'failed' ? [expect.stringContaining('which the mirror has had')] : []
        expect(found.series[0].corrupt.map(({ reason }) => reason)).toEqual(reasons)
      }
      // A window of the static service is final by its end, so that only a refresh replaces one that has lost its first candles.
      await mirror.download({ refresh: place === 'oldest' })
      mirror.expectCurrent()
    }
    expect((await verify()).verdict).toBe('ok')
  })

  it('a series that is gone is missed, until its index is removed', async () => {
    const { mirror, populated, named, all, verify } = await setUp(open)
    rmSync(join(populated[0], '..'), { recursive: true })
    const lost = await verify()
    expect(lost.verdict).toBe('incomplete')
    expect(lost.series.map(({ missingWindows }) => missingWindows.length > 0)).toEqual([true])
    const output = join(mirror.root, 'x-{symbol}-{interval}.csv')
    await expect(exportKlines({ ...all, offline: true, output })).rejects.toMatchObject({ code: 'incomplete' })
    rmSync(join(mirror.mirror, indexPath({ symbol: named.symbols[0], interval: named.intervals[0] } as never)))
    await expect(verify()).rejects.toMatchObject({ code: 'window_missing' })
  })

  it('a mirror without an index, of an older version, is verified as before', async () => {
    const { mirror, verify } = await setUp(open)
    rmSync(join(mirror.mirror, '.klines'), { recursive: true })
    expect((await verify()).verdict).toBe('ok')
  })
})

it.each<[string, Lie]>([
  ['[] for everything', () => []],
  ['half of each month', rows => rows.filter(([openTime]) => new Date(openTime).getUTCDate() <= 14)],
  ['[] for one month', rows => rows.filter(([openTime]) => new Date(openTime).getUTCMonth() !== 2)],
  ['a first candle in the last month', rows => rows.filter(([openTime]) => openTime >= Date.UTC(2026, 3, 11))],
])('the exchange answers %s after right answers: no candle is lost', async (_, lie) => {
  const lying: { lie?: Lie } = {}
  const mirror = new GrowingMirror(await growingExchange(() => lying.lie))
  mirror.advance(mirror.service.end - mirror.time)
  await mirror.download()
  mirror.advance(2 * HOUR)
  lying.lie = lie
  for (const refresh of [false, true]) {
    await mirror.download({ refresh })
    mirror.expectCurrent()
  }
})
