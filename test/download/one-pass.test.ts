import { expect, it } from 'vitest'
import { OnePass } from '../../src/download/one-pass.js'
import type { WindowResult, WindowSource } from '../../src/download/window-source.js'
import { decodeWindow } from '../../src/klines/batch/window-codec.js'
import type { Series, WindowRef } from '../../src/klines/series.js'
import { deferred } from '../support/deferred.js'
import { FULL_WEEKS, weekRows } from '../support/synthetic-tree.js'

const SERIES: readonly Series[] = (['BTCUSDT', 'ETHUSDT'] as const).map(symbol => ({ symbol, interval: '15m' }))

/** A source that gives windows of BTCUSDT at once, and those of ETHUSDT when `rest` is fulfilled. */
function passOf(rest: Promise<void>): OnePass {
  const source = {
    offline: false,
    advice: '',
    traffic: { requests: 0, bytes: 0 },
    window: async (window: WindowRef): Promise<WindowResult> => {
      if (window.symbol === 'ETHUSDT') await rest
      const bytes = Buffer.from(JSON.stringify(weekRows(window.startDate)))
      return { window, status: 'cached', batch: decodeWindow(bytes, window) }
    },
  } as unknown as WindowSource
  const series = SERIES.map(one => ({
    series: one,
    windows: FULL_WEEKS.slice(0, 2).map(startDate => ({ ...one, startDate })),
    listedFrom: undefined,
  }))
  const range = { fromTime: undefined, toTime: undefined }
  return new OnePass(source, { range, series }, series, { mirror: '', baseUrl: 'http://127.0.0.1' })
}

it('hands out each series while the next one is still under way', async () => {
  const rest = deferred()
  const pass = passOf(rest.promise)
  const seen: number[] = []
  const [first, second] = SERIES.map(one => pass.batches(one))
  for (const _ of FULL_WEEKS.slice(0, 2)) seen.push((await first.next()).value?.length ?? 0)
  rest.resolve()
  expect((await first.next()).done).toBe(true)
  for await (const batch of second) seen.push(batch.length)
  const rows = FULL_WEEKS.slice(0, 2).map(week => weekRows(week).length)
  expect(seen).toEqual([...rows, ...rows])
  expect((await pass.settle()).series.map(one => one.rows)).toEqual(SERIES.map(() => rows[0] + rows[1]))
})

it('that is closed does not wait for a window under way', async () => {
  const rest = deferred()
  const pass = passOf(rest.promise)
  const batches = pass.batches(SERIES[1])
  const pending = batches.next()
  await Promise.resolve(pass.close())
  rest.resolve()
  await pending
})
