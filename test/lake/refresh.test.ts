import { cpSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { KlinesEvent, WindowEvent } from '../../src/engine/run.js'
import type { LakeSeries } from '../../src/lake/manifest.js'
import { catchError } from '../support/errors.js'
import { onWindow } from '../support/events.js'
import { fileSnapshot, lakeSetup } from '../support/lake.js'
import { FULL_WEEKS, OPEN_WEEK, putFile, RENDERED, SYMBOLS, weekPath, weekRows } from '../support/synthetic-tree.js'

const DAY = 86_400_000
type Setup = Awaited<ReturnType<typeof lakeSetup>>
type Options = Parameters<Setup['update']>[0]

/** A lake, and what its manifest says of the windows of its series. */
async function trustedLake(options: Options = {}) {
  const setup = await lakeSetup()
  const { mirror, tree, read, write, update, warnings } = setup
  // A gap that goes on in the next window.
  for (const symbol of SYMBOLS) putFile(tree, weekPath(symbol, FULL_WEEKS[3]), weekRows(FULL_WEEKS[3], { days: 3 }))
  await update(options)
  const manifest = () => JSON.parse(read('_klines.json').toString())
  /** Changes what the manifest says about series. */
  const editSeries = (edit: (series: LakeSeries) => object) => {
    const { series, ...rest } = manifest()
    write('_klines.json', JSON.stringify({ ...rest, series: series.map(edit) }))
  }
  /** A run without a change: what it reports and says. */
  const refresh = async (more: Options = {}) => {
    const states: WindowEvent[] = []
    warnings.length = 0
    const note = onWindow(state => states.push(state))
    const onEvent = (event: KlinesEvent) => {
      setup.request.onEvent(event)
      note(event)
    }
    const report = await update({ ...options, ...more, onEvent })
    return { report, states, warnings: [...warnings] }
  }
  return { ...setup, mirror, editSeries, refresh }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  onTestFinished(() => void vi.useRealTimers())
})

/** As if a file had changed: all parts are encoded again. */
const asChanged = (series: LakeSeries) => ({ ...series, seen: '' })

describe('a refresh without a change writes nothing', () => {
  it('also of a mirror that was copied without times: no part is read again', async () => {
    const { mirror, lake, refresh, read, folder } = await trustedLake()
    const before = [fileSnapshot(lake), read('_klines.json').toString()]
    const copy = join(folder, 'copy')
    cpSync(mirror, copy, { recursive: true })
    await refresh({ mirror: copy, offline: true })
    expect([fileSnapshot(lake), read('_klines.json').toString()]).toEqual(before)
  })

  it.each<[string, Options]>([
    ['by default', {}],
    ['with a range that starts and ends inside of windows', { from: '2025-01-08', to: '2025-02-05' }],
    ['resampled', { resample: '1d', partial: true }],
  ])('and reports the same as one that encodes all parts again, %s', async (_, options) => {
    const { editSeries, refresh, lake } = await trustedLake(options)
    for (const offline of [false, true]) {
      const before = fileSnapshot(lake)
      const counted = await refresh({ offline })
      expect(fileSnapshot(lake)).toEqual(before)
      editSeries(asChanged)
      const read = await refresh({ offline })
      expect([counted.report, counted.warnings]).toEqual([read.report, read.warnings])
      expect(counted.report.series[0].gaps).toBeGreaterThan(10)
    }
  })

  it('but requests those that can still change', async () => {
    const { server, tree, refresh } = await trustedLake()
    server.log.length = 0
    await refresh()
    const windows = () => server.log.filter(({ path }) => path.includes('USDT/')).map(({ path }) => path.slice(-15, -5))
    const openWindows = windows()
    expect(new Set(openWindows)).toContain(OPEN_WEEK)
    expect(openWindows).not.toContain(FULL_WEEKS[0])
    putFile(tree, weekPath('BTCUSDT', OPEN_WEEK), weekRows(OPEN_WEEK, { days: 5 }), RENDERED + DAY)
    const { report } = await refresh()
    expect(report.series.map(({ candles, newCandles }) => [candles, newCandles])).toEqual([
      [40, 3],
      [37, 0],
    ])
    expect(report.lake).toMatchObject({ written: 1, unchanged: 1 })
    server.log.length = 0
    await refresh({ refresh: true })
    expect(windows()).toContain(FULL_WEEKS[0])
  })

  it.each<[string, (path: string) => void]>([
    ['missing', path => rmSync(path)],
    [
      'corrupt, of the same size and time',
      path => putFile('/', path, `{${readFileSync(path, 'utf8').slice(1)}`, statSync(path).mtimeMs),
    ],
  ])('but a window that is %s by now is named, and downloaded again', async (_, damage) => {
    const { mirror, refresh, lake } = await trustedLake()
    const parts = () => Object.entries(fileSnapshot(lake)).filter(([name]) => name.endsWith('.parquet'))
    const before = parts()
    damage(join(mirror, weekPath('ETHUSDT', FULL_WEEKS[2])))
    expect(await catchError(refresh({ offline: true }))).toMatchObject({
      code: 'incomplete',
      message: expect.stringContaining(`ETHUSDT 15m ${FULL_WEEKS[2]}`),
    })
    expect(parts()).toEqual(before)
    const { report } = await refresh()
    expect(report.series.map(({ windows }) => windows.fetched)).toEqual([0, 1])
    expect(parts()).toEqual(before)
  })
})
