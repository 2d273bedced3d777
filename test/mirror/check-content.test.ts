import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkMirror } from '../../src/mirror/check.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'
import { candle, OPEN_WEEK, putFile, weekPath, weekRows, windowBytes } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

/** Paths that are not sound, each with why. */
async function faultsOf(root: string): Promise<Record<string, string>> {
  const { corrupt } = await checkMirror(new Mirror(root))
  return Object.fromEntries(corrupt.map(({ path, reason }) => [path, reason]))
}

it('one byte that changes in a window is found, or is in a cell other than an open time; never a crash', async () => {
  const root = tempFolder()
  const sound = windowBytes(weekRows(OPEN_WEEK, { days: 3 }))
  const path = weekPath('BTCUSDT', OPEN_WEEK)
  // Where the cells are, quotes left out: every run of digits and points, twelve a row.
  const cells = [...sound.toString().matchAll(/[\d.]+/g)].map(({ index, 0: text }) => [index, index + text.length])
  expect(cells).toHaveLength(36)
  const [found, sounds] = [new Set<number>(), new Set<number>()]
  const change = fc.tuple(fc.nat(sound.length - 1), fc.integer({ min: 1, max: 255 }))
  await fc.assert(
    fc.asyncProperty(change, async ([at, by]) => {
      const changed = Buffer.from(sound)
      changed[at] = (changed[at] + by) % 256
      putFile(root, path, changed)
      const verdict = await checkMirror(new Mirror(root))
      const cell = cells.findIndex(([start, end]) => at >= start && at < end)
      if (verdict.corrupt.length > 0) return void found.add(at)
      sounds.add(at)
      expect({ isInCell: cell !== -1, isOpenTime: cell % 12 === 0 }).toEqual({ isInCell: true, isOpenTime: false })
      expect(verdict.candles).toBe(3)
    }),
    { numRuns: 1_500 },
  )
  expect([found.size > 100, sounds.size > 50]).toEqual([true, true])
})

describe('a window of another series', () => {
  /** The sample with a file in the place of another. */
  async function mistaken(file: string, place: string): Promise<Record<string, string>> {
    const root = tempFolder()
    cpSync(SAMPLE_TREE, root, { recursive: true })
    expect(await faultsOf(root)).toEqual({})
    writeFileSync(join(root, 'api/klines', place), readFileSync(join(root, 'api/klines', file)))
    return faultsOf(root)
  }

  it.each([
    ['1h', '2h', '2025-01-01', /^row 1, which opens 2025-01-01T01:00.*not on the grid/],
    ['2h', '1h', '2025-03-01', /^row 0, which opens 2025-03-01T00:00.*closes after the next/],
    ['30m', '15m', '2025-03-24', /^row 0, .*closes after the next/],
    ['4h', '6h', '2025-01-01', /^row 1, .*not on the grid/],
    ['6h', '8h', '2024-07-01', /^row 1, .*not on the grid/],
    ['8h', '6h', '2024-07-01', /^row 0, .*closes after the next/],
    ['12h', '1d', '2024-01-01', /^row 1, .*not on the grid/],
    ['1d', '12h', '2024-01-01', /^row 2, .*outside the window/],
  ])('%s in the place of %s is named', async (from, to, startDate, why) => {
    const place = `${to}/BTCUSDT/${startDate}.json`
    const faults = await mistaken(`${from}/BTCUSDT/${startDate}.json`, place)
    expect(faults).toEqual({ [`api/klines/${place}`]: expect.stringMatching(why) })
  })

  const DAYS_3 = 3 * 86_400_000
  /** 3d candles of a symbol listed on `anchor`, one window of five years a file. */
  function put3d(root: string, anchor: string, startDates: string[]): string[] {
    return startDates.map(startDate => {
      const start = Date.parse(startDate)
      const first = start + ((((Date.parse(anchor) - start) % DAYS_3) + DAYS_3) % DAYS_3)
      const rows = [0, 1, 2].map(index => candle(first + index * DAYS_3))
      putFile(root, `api/klines/3d/BTCUSDT/${startDate}.json`, rows)
      return `api/klines/3d/BTCUSDT/${startDate}.json`
    })
  }
  const why = 'not on the grid of the other windows of its series'

  it.each([0, 1, 2])('is told by its 3d grid: the one of three that differs is named (%d)', async odd => {
    const root = tempFolder()
    const dates = ['2015-01-01', '2020-01-01', '2025-01-01']
    const paths = put3d(root, '2017-08-17', dates)
    expect(await faultsOf(root)).toEqual({})
    put3d(root, '2018-05-04', [dates[odd]])
    expect(await faultsOf(root)).toEqual({ [paths[odd]]: why })
  })

  it('one of two may be either: both are named; an empty one says nothing', async () => {
    const root = tempFolder()
    const [path] = put3d(root, '2017-08-17', ['2015-01-01'])
    const [other] = put3d(root, '2018-05-04', ['2025-01-01'])
    putFile(root, 'api/klines/3d/BTCUSDT/2020-01-01.json', [])
    expect(await faultsOf(root)).toEqual({ [path]: why, [other]: why })
  })
})
