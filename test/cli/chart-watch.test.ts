import { expect, it } from 'vitest'
import type { FittedCandles } from '../../src/chart/chart-candle.js'
import { loadCharts } from '../../src/cli/chart/load-charts.js'
import { ChartWatch } from '../../src/cli/chart/watch.js'
import { FakeClock } from '../support/fake-clock.js'
import { makeQuarterHours, putWeek, QUARTER, quarterHours } from '../support/quarter-hour-tree.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { weekPath } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const MINUTE = 60_000
const WEEK = Date.UTC(2025, 1, 10)
/** Wednesday noon: the newest candle opened at 11:45. */
const NOON = WEEK + 60 * 3_600_000
const WINDOW = weekPath('BTCUSDT', '2025-02-10')

/** What was drawn. */
interface Frame {
  readonly time: string
  readonly newest: string
  readonly status: string
  readonly candles: number
}

const clockText = (time: number) => new Date(time).toISOString().slice(11, 19)

/** Watches a service from `now` on, with a clock that does not wait, until `onDraw` returns false. */
async function watch(now: number, onDraw: (frame: Frame, tools: Tools) => unknown) {
  const root = makeQuarterHours(tempFolder(), ['BTCUSDT'], WEEK, NOON)
  const server = await TreeServer.start(root)
  const clock = new FakeClock(now)
  const stop = new AbortController()
  const frames: Frame[] = []
  let width = 53
  const address = { baseUrl: server.url, mirror: tempFolder(), retries: 0, now }
  const request = { symbols: ['BTCUSDT'], intervals: ['15m'], ...address } as const
  const load = () => loadCharts(request, { width, log: false })
  /** Adds candles to the service, the last of which opens just before `time`. */
  const publish = (time: number) => putWeek(root, 'BTCUSDT', WEEK, quarterHours(WEEK, time), time)
  const draw = (charts: readonly FittedCandles[], status: string) => {
    const [{ lastTime = 0, candles }] = charts
    const frame = { time: clockText(clock.now()), newest: clockText(lastTime), status, candles }
    frames.push(frame)
    const resize = (columns: number) => {
      width = columns
      watching.resize()
    }
    if (onDraw(frame, { server, publish, resize }) === false) stop.abort(new Error('stopped'))
  }
  const first = await load()
  server.reset()
  const watching = new ChartWatch(first, {
    clock,
    signal: stop.signal,
    load,
    size: () => ({ width, log: false }),
    draw,
  })
  await expect(watching.run()).rejects.toThrow('stopped')
  await watching.close()
  return { frames, server, clock }
}

interface Tools {
  readonly server: TreeServer
  readonly publish: (time: number) => void
  readonly resize: (columns: number) => void
}

it('makes one request for each closed candle, 20 s after its end', async () => {
  const { frames, server, clock } = await watch(NOON + MINUTE, ({ newest }, { publish }) => {
    if (newest === '12:15:00') return false
    // What will be there at the next check.
    return publish(newest === '11:45:00' ? NOON + QUARTER : NOON + 2 * QUARTER)
  })
  expect(frames.map(({ time, newest, status }) => `${time} ${newest} ${status}`)).toEqual([
    '12:01:00 11:45:00 12:01:00 UTC: downloaded; next check 12:15:20. Ctrl-C ends.',
    '12:15:20 12:00:00 12:15:20 UTC: new candle; next check 12:30:20. Ctrl-C ends.',
    '12:30:20 12:15:00 12:30:20 UTC: new candle; next check 12:45:20. Ctrl-C ends.',
  ])
  expect(server.paths()).toEqual([WINDOW, WINDOW])
  expect(Math.max(...clock.sleeps)).toBeLessThanOrEqual(MINUTE)
})

it('waits longer and longer for a service that is late: from a minute to an hour', async () => {
  const { frames, server } = await watch(NOON + MINUTE, ({ time }) => time < '18:00:00')
  const times = ['12:01:00', '12:15:20', '12:16:20', '12:18:20', '12:22:20', '12:30:20', '12:46:20', '13:18:20']
  const hourly = ['14:18:20', '15:18:20', '16:18:20', '17:18:20', '18:18:20']
  expect(frames.map(({ time }) => time)).toEqual([...times, ...hourly])
  expect(new Set(frames.slice(1).map(({ status }) => status.slice(14, 31)))).toEqual(new Set(['no new candle yet']))
  // One request a check, each of which the service answers with 304.
  expect(server.paths()).toEqual(frames.slice(1).map(() => WINDOW))
  expect(server.log.every(({ status }) => status === 304)).toBe(true)
})

it('goes on when the service was away', async () => {
  const { frames } = await watch(NOON + MINUTE, ({ time, newest }, { server, publish }) => {
    if (time === '12:01:00') server.always(WINDOW, { status: 503 })
    if (time === '12:16:20') {
      publish(NOON + QUARTER)
      server.always(WINDOW, (_, response) =>
        response.writeHead(200).end(JSON.stringify(quarterHours(WEEK, NOON + QUARTER))),
      )
    }
    return newest === '11:45:00'
  })
  expect(frames.map(({ time, newest, status }) => `${time} ${newest} ${status.slice(14, 45)}`)).toEqual([
    '12:01:00 11:45:00 downloaded; next check 12:15:20',
    '12:15:20 11:45:00 the service could not be reache',
    '12:16:20 11:45:00 the service could not be reache',
    '12:18:20 12:00:00 new candle; next check 12:30:20',
  ])
})

it('draws more candles when the terminal becomes wider, and keeps its times', async () => {
  const { frames, server } = await watch(NOON + MINUTE, ({ candles, time }, { resize }) => {
    // 3 columns for the axis, and 13 for its labels: 1117.12345678.
    if (candles === 37) resize(80)
    else if (time === '12:01:00') resize(40)
    return candles !== 24
  })
  expect(frames.map(({ candles, status }) => `${candles} ${status}`)).toEqual(
    [37, 64, 24].map(candles => `${candles} 12:01:00 UTC: downloaded; next check 12:15:20. Ctrl-C ends.`),
  )
  expect(server.paths()).toEqual([])
})
