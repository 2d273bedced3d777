import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import type { Series } from '../../src/candles/series.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { Resampler } from '../../src/rows/resampler.js'
import { parseTargetInterval } from '../../src/rows/target-interval.js'
import { type VerifyRequest, verifyKlines } from '../../src/verify/verify.js'
import {
  BACK_ON_GRID,
  DAY,
  DAYS,
  HOUR,
  HOURS,
  LAST_OFF_GRID,
  makeOffGridTree,
  OFF_GRID_HOURS,
  RESUMED,
  TRADES,
} from '../support/off-grid-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const INTERVALS = ['15m', '1h', '2h', '1d'] as const
const series = (interval: Interval): Series => ({ symbol: 'BTCUSDT', interval })
/** The first candle that is missing, and the candle after the outage. */
const OUTAGE = Date.parse('2018-02-08T01:00Z')

const verify = (root: string, request: Partial<VerifyRequest> = {}) =>
  verifyKlines({
    ...{ symbols: ['BTCUSDT'], intervals: INTERVALS, mirror: root, now: Date.parse('2018-03-01') },
    ...request,
  })

async function findings(root: string, request?: Partial<VerifyRequest>) {
  const report = await verify(root, request)
  const kinds = report.series.map(({ interval, earlyClose, offGrid, faults }) => {
    const all = { early_close: earlyClose, old_off_grid: offGrid, faults }
    const there = Object.entries(all).filter(([, candles]) => candles.length > 0)
    return [interval, Object.fromEntries(there.map(([kind, candles]) => [kind, candles.map(one => one.openTime)]))]
  })
  return {
    ...report,
    kinds: Object.fromEntries(kinds),
    bySeries: new Map(report.series.map(one => [one.interval, one])),
  }
}

describe('verifyKlines of hours that the exchange has off the grid', () => {
  it('finds them, their early closes and the outage, and no difference', async () => {
    const { kinds, differences, bySeries } = await findings(makeOffGridTree(tempFolder()))
    const early = [Date.parse('2018-02-08'), LAST_OFF_GRID]
    expect(kinds).toEqual({
      '15m': { early_close: [Date.parse('2018-02-08T00:15Z')] },
      '1h': { early_close: early, old_off_grid: OFF_GRID_HOURS },
      '2h': { early_close: [Date.parse('2018-02-08')] },
      '1d': { early_close: [Date.parse('2018-02-08')] },
    })
    expect(differences).toEqual([])
    expect(bySeries.get('1h')).toMatchObject({
      gaps: [{ startTime: OUTAGE, endTime: RESUMED, missing: 32 }],
      unverified: 44,
      corrupt: [],
    })
    expect(bySeries.get('2h')).toMatchObject({ gaps: [{ missing: 16 }], unverified: 0 })
    expect(bySeries.get('1d')).toMatchObject({ gaps: [], unverified: 0 })
  })

  it('finds a changed digit beside the stretch', async () => {
    const root = makeOffGridTree(tempFolder())
    const path = join(root, 'api/klines/2h/BTCUSDT/2018-01-01.json')
    const rows = JSON.parse(readFileSync(path, 'utf8'))
    const changed = rows.find(([openTime]: [number]) => openTime === BACK_ON_GRID + 2 * HOUR)
    changed[8]++
    writeFileSync(path, JSON.stringify(rows))
    const { differences } = await verify(root)
    expect(new Set(differences.map(({ openTime, interval }) => `${interval} ${openTime}`))).toContain(
      `2h ${changed[0]}`,
    )
  })
})

describe('candles off the grid', () => {
  const batch = () => {
    const window = new Mirror(makeOffGridTree(tempFolder())).read({ ...series('1h'), startDate: '2018-02-01' })
    if (window.state !== 'cached') throw new Error(window.state)
    return window.batch
  }
  const units = (decimal: string) => BigInt(decimal.replace('.', ''))
  const sum = (rows: readonly (readonly (string | number)[])[], column: number) =>
    rows.reduce((total, row) => total + units(String(row[column])), 0n)

  it('are resampled to days without losing a trade', () => {
    const days: (string | number)[][] = []
    const resampler = new Resampler(series('1h'), parseTargetInterval('1d'))
    for (const part of [resampler.add(batch()), resampler.end()]) {
      for (let row = 0; row < (part?.length ?? 0); row++) days.push([...(part?.row(row) ?? [])])
    }
    expect(days.map(([openTime]) => openTime)).toEqual(DAYS.map(([openTime]) => openTime))
    for (const column of [5, 7, 8, 9, 10]) expect(sum(days, column), `column ${column}`).toBe(sum(HOURS, column))
    expect(sum(days, 5)).toBe(TRADES.reduce((total, { quantity }) => total + quantity, 0n))
    // A day has the candles that open in it: the last one of 9 February takes the trades up to 00:28:14.788.
    const from = Date.parse('2018-02-09')
    const hours = HOURS.filter(([openTime]) => openTime >= from && openTime < from + DAY)
    const day = days.find(([openTime]) => openTime === from) ?? []
    expect([day[1], day[4]]).toEqual([hours[0][1], hours[hours.length - 1][4]])
    expect(day[6]).toBe(Date.parse('2018-02-10T00:28:14.788Z'))
  })
})
