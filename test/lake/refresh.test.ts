import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { KlinesEvent, WindowEvent } from '../../src/index.js'
import type { LakeManifest } from '../../src/lake/manifest.js'
import { catchError } from '../support/errors.js'
import { onWindow } from '../support/events.js'
import { fileSnapshot, lakeSetup } from '../support/lake.js'
import { FULL_WEEKS, OPEN_WEEK, putFile, RENDERED, SYMBOLS, weekPath, weekRows } from '../support/synthetic-tree.js'

const DAY = 86_400_000
type Setup = Awaited<ReturnType<typeof lakeSetup>>
type Options = Parameters<Setup['update']>[0]

/** A lake whose manifest has the versions of the windows: those of files that were just written are not trusted. */
async function trustedLake(options: Options = {}) {
  const setup = await lakeSetup()
  const { mirror, tree, read, write, update, warnings } = setup
  // A gap that goes on in the next window.
  for (const symbol of SYMBOLS) putFile(tree, weekPath(symbol, FULL_WEEKS[3]), weekRows(FULL_WEEKS[3], { days: 3 }))
  await update(options)
  const manifest = () => JSON.parse(read('_klines.json').toString())
  /** Changes what the manifest says about windows. */
  const editWindows = (edit: (window: Record<string, unknown>) => object) => {
    const { series, ...rest } = manifest()
    const edited = series.map((entry: LakeManifest['series'][number]) => ({
      ...entry,
      windows: entry.windows.map(window => edit({ ...window })),
    }))
    write('_klines.json', JSON.stringify({ ...rest, series: edited }))
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
  return { ...setup, mirror, manifest, editWindows, refresh }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  onTestFinished(() => void vi.useRealTimers())
})

const withoutTotals = ({ totals, ...window }: Record<string, unknown>) => window

describe('a refresh takes what it reports of unchanged windows from the manifest', () => {
  it.each<[string, Options]>([
    ['by default', {}],
    ['with a range that starts and ends inside of windows', { from: '2025-01-08', to: '2025-02-05' }],
    ['with a range that moves', { last: '25d' }],
    ['resampled', { resample: '1d', partial: true }],
    ['by month', { partition: 'month' }],
  ])('and reports the same as one that reads all of them, %s', async (_, options) => {
    const { editWindows, manifest, refresh, lake } = await trustedLake(options)
    expect(JSON.stringify(manifest())).toMatch(/"version":"[^"]+","totals":\[8,/)
    for (const offline of [false, true]) {
      const before = fileSnapshot(lake)
      const counted = await refresh({ offline })
      expect(fileSnapshot(lake)).toEqual(before)
      editWindows(withoutTotals)
      const read = await refresh({ offline })
      expect(counted).toEqual(read)
      expect(counted.report.series[0].gaps).toBeGreaterThan(10)
      // Windows that were not counted are counted as soon as their series is written.
      await refresh({ force: true })
      expect(JSON.stringify(manifest())).toMatch(/"version":"[^"]+","totals":\[8,/)
    }
  })

  it('and does not read them', async () => {
    const { editWindows, refresh } = await trustedLake()
    const { report } = await refresh({ offline: true })
    expect(report.series.map(({ candles, gaps }) => [candles, gaps])).toEqual([
      [37, 32],
      [37, 32],
    ])
    editWindows(window => (window.startDate === FULL_WEEKS[1] ? { ...window, totals: [9, ...TIMES, 0, 0] } : window))
    expect((await refresh({ offline: true })).report.series.map(({ candles }) => candles)).toEqual([38, 38])
    expect((await refresh()).report.series.map(({ candles }) => candles)).toEqual([38, 38])
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
    const before = fileSnapshot(lake)
    damage(join(mirror, weekPath('ETHUSDT', FULL_WEEKS[2])))
    expect(await catchError(refresh({ offline: true }))).toMatchObject({
      code: 'incomplete',
      message: expect.stringContaining(`ETHUSDT 15m ${FULL_WEEKS[2]}`),
    })
    expect(fileSnapshot(lake)).toEqual(before)
    const { report } = await refresh()
    expect(report.series.map(({ windows }) => windows.fetched)).toEqual([0, 1])
    expect(fileSnapshot(lake)).toEqual(before)
  })

  it('and after a run that wrote all parts again with the same bytes', async () => {
    const { refresh } = await trustedLake()
    expect((await refresh({ offline: true, force: true })).report.lake).toMatchObject({ written: 2 })
    expect((await refresh({ offline: true })).report.lake).toMatchObject({ written: 0, unchanged: 2 })
  })

  it('and a manifest without totals is read further', async () => {
    const { editWindows, refresh } = await trustedLake()
    editWindows(withoutTotals)
    expect((await refresh({ offline: true })).report.lake).toMatchObject({ written: 0, unchanged: 2 })
  })

  it.each([[[1]], [[8, '0', 0, 0, 0]], ['8']])('and a manifest with the totals %j cannot be used', async totals => {
    const { editWindows, refresh } = await trustedLake()
    editWindows(window => ({ ...window, totals }))
    const { report, warnings } = await refresh({ offline: true })
    expect(report.lake).toMatchObject({ written: 2, unchanged: 0 })
    expect(warnings).toContainEqual(expect.stringContaining('_klines.json cannot be used'))
  })
})

/** Open times of the first and the last candle of a full week. */
const TIMES = [Date.parse(FULL_WEEKS[1]), Date.parse(FULL_WEEKS[1]) + 7 * DAY - 900_000]
