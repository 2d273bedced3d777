import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkMirror } from '../../src/mirror/check.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { cases } from '../support/full.js'
import { HOURS, makeOffGridTree, OFF_GRID_QUARTERS, putSeries, TWO_HOURS } from '../support/off-grid-tree.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'
import { candle, OPEN_WEEK, putFile, weekPath, weekRows, windowBytes } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

/** The corrupt paths with their reasons. */
async function findFaults(root: string): Promise<Record<string, string>> {
  const { corrupt } = await checkMirror(new Mirror(root))
  return Object.fromEntries(corrupt.map(({ path, reason }) => [path, reason]))
}

it('a changed byte in a window is found, unless it is in a cell other than an open time', async () => {
  const root = tempFolder()
  const valid = windowBytes(weekRows(OPEN_WEEK, { days: 3 }))
  const path = weekPath('BTCUSDT', OPEN_WEEK)
  // The positions of the cells without quotes: every run of digits and points, twelve per row.
  const cells = [...valid.toString().matchAll(/[\d.]+/g)].map(({ index, 0: text }) => [index, index + text.length])
  expect(cells).toHaveLength(36)
  const [found, accepted] = [new Set<number>(), new Set<number>()]
  const change = fc.tuple(fc.nat(valid.length - 1), fc.integer({ min: 1, max: 255 }))
  await fc.assert(
    fc.asyncProperty(change, async ([offset, delta]) => {
      const changed = Buffer.from(valid)
      changed[offset] = (changed[offset] + delta) % 256
      putFile(root, path, changed)
      const report = await checkMirror(new Mirror(root))
      const cell = cells.findIndex(([start, end]) => offset >= start && offset < end)
      if (report.corrupt.length > 0) return void found.add(offset)
      accepted.add(offset)
      expect({ isInCell: cell !== -1, isOpenTime: cell % 12 === 0 }).toEqual({ isInCell: true, isOpenTime: false })
      expect(report.candles).toBe(3)
    }),
    { numRuns: cases(1_500, 150) },
  )
  expect(found.size).toBeGreaterThan(cases(100, 10))
  expect(accepted.size).toBeGreaterThan(cases(50, 5))
})

describe('a window of another series', () => {
  /** Replaces a file of the sample with another and checks it. */
  async function checkReplaced(file: string, place: string): Promise<Record<string, string>> {
    const root = tempFolder()
    cpSync(SAMPLE_TREE, root, { recursive: true })
    expect(await findFaults(root)).toEqual({})
    writeFileSync(join(root, 'api/klines', place), readFileSync(join(root, 'api/klines', file)))
    return findFaults(root)
  }

  it.each([
    ['1h', '2h', '2025-01-01', /^row 1, element 0 .*: 2025-01-01T01:00.* is not on the grid of its series/],
    ['2h', '1h', '2025-03-01', /^row 0, element 6 .*: 2025-03-01T01:59:59.999Z is after the end of the candle/],
    ['30m', '15m', '2025-03-24', /^row 0, element 6 .* after the end of the candle/],
    ['4h', '6h', '2025-01-01', /^row 1, element 0 .* not on the grid/],
    ['6h', '8h', '2024-07-01', /^row 1, element 0 .* not on the grid/],
    ['8h', '6h', '2024-07-01', /^row 0, element 6 .* after the end of the candle/],
    ['12h', '1d', '2024-01-01', /^row 1, element 0 .* not on the grid/],
    ['1d', '12h', '2024-01-01', /^row 0, element 6 .* after the end of the candle/],
  ])('%s in the place of %s is named', async (from, to, startDate, reason) => {
    const place = `${to}/BTCUSDT/${startDate}.json`
    const faults = await checkReplaced(`${from}/BTCUSDT/${startDate}.json`, place)
    expect(faults).toEqual({ [`api/klines/${place}`]: expect.stringMatching(reason) })
  })

  it('is named before March 2018 too, where the exchange has candles off the grid, which are not', async () => {
    const root = makeOffGridTree(tempFolder())
    expect(await findFaults(root)).toEqual({})
    putSeries(root, '15m', OFF_GRID_QUARTERS)
    expect(await findFaults(root)).toEqual({})
    const places = ['1h/BTCUSDT/2018-02-01.json', '2h/BTCUSDT/2018-01-01.json', '1d/BTCUSDT/2018-01-01.json']
    const [hours, twoHours, days] = places.map(place => `api/klines/${place}`)
    putFile(root, hours, TWO_HOURS)
    putFile(root, twoHours, HOURS)
    putFile(root, days, HOURS)
    expect(await findFaults(root)).toEqual({
      [hours]: expect.stringMatching(/^row 0, .* is after the end of the candle, 2018-02-01T00:59:59.999Z$/),
      [twoHours]: expect.stringMatching(
        /^row 1, which opens 2018-02-01T01:00.* is less than 2h after the one before it/,
      ),
      [days]: expect.stringMatching(/^row 1, .* is less than 1d after the one before it, and so are most rows$/),
    })
  })

  const DAYS_3 = 3 * 86_400_000
  /** Writes 3d windows of a symbol listed on `anchor`. */
  function put3d(root: string, anchor: string, startDates: string[]): string[] {
    return startDates.map(startDate => {
      const start = Date.parse(startDate)
      const first = start + ((((Date.parse(anchor) - start) % DAYS_3) + DAYS_3) % DAYS_3)
      const rows = [0, 1, 2].map(index => candle(first + index * DAYS_3))
      putFile(root, `api/klines/3d/BTCUSDT/${startDate}.json`, rows)
      return `api/klines/3d/BTCUSDT/${startDate}.json`
    })
  }
  const reason = 'not on the grid of the other windows of its series'

  it.each([0, 1, 2])('is found by its 3d grid: the different one of three is named (%d)', async index => {
    const root = tempFolder()
    const dates = ['2015-01-01', '2020-01-01', '2025-01-01']
    const paths = put3d(root, '2017-08-17', dates)
    expect(await findFaults(root)).toEqual({})
    put3d(root, '2018-05-04', [dates[index]])
    expect(await findFaults(root)).toEqual({ [paths[index]]: reason })
  })

  it('is one of two that differ: both are named, and an empty one is not', async () => {
    const root = tempFolder()
    const [path] = put3d(root, '2017-08-17', ['2015-01-01'])
    const [other] = put3d(root, '2018-05-04', ['2025-01-01'])
    putFile(root, 'api/klines/3d/BTCUSDT/2020-01-01.json', [])
    expect(await findFaults(root)).toEqual({ [path]: reason, [other]: reason })
  })
})
