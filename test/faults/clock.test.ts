import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { csvOf } from '../support/sample-tree.js'
import {
  EMPTY_WEEK,
  FUTURE_WEEK,
  PRESENT,
  putFile,
  START_DATES,
  treeRows,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'
import { ALL_WINDOWS, LIST, OPEN_WINDOWS, STORED_LIST, useFaultScenarios } from './support/fault-scenario.js'
import { healthy } from './support/fault-server.js'
import { reply } from './support/responses.js'

const newScenario = useFaultScenarios()
const TEN_YEARS = 10 * 365.25 * 86_400_000

const clocks: readonly [string, Record<string, string>][] = [
  ['ten years behind', { KLINES_TEST_NOW: String(PRESENT - TEN_YEARS) }],
  ['ten years ahead', { KLINES_TEST_NOW: String(PRESENT + TEN_YEARS) }],
  ['that jumps ten years ahead and back', { KLINES_TEST_JUMP: String(TEN_YEARS) }],
]
const EMPTY = weekPath('BTCUSDT', EMPTY_WEEK)
const FUTURE = weekPath('BTCUSDT', FUTURE_WEEK)

const NOTE = /^Note: The clocks differ: the service says [\d-]{10}T[\d:]{5}Z, this machine [\d-]{10}T[\d:]{5}Z\. .+\n$/
/** Whether a clock that jumps is seen depends on when it is read. */
const noteOf = (name: string) => (name.includes('jumps') ? new RegExp(`^$|${NOTE.source}`) : NOTE)

describe('F52 a clock', () => {
  it.concurrent.each(clocks)(
    '%s yields the same candles, with one note; a slow one costs a request',
    async (name, env) => {
      const scenario = await newScenario()
      const first = await scenario.download({ env })
      expect(first).toMatchObject({ code: 0, stderr: expect.stringMatching(noteOf(name)) })
      expect(scenario.server.windowRequests().sort()).toEqual(
        expect.arrayContaining(ALL_WINDOWS.filter(path => name.includes('ahead') || path !== FUTURE)),
      )
      expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
      scenario.server.heal()
      expect(await scenario.download({ env, args: ['--force'] })).toMatchObject({ code: 0 })
      // An empty window is final because it was rendered after its end, which a slow clock cannot confirm.
      const asked = scenario.server.windowRequests()
      expect([...OPEN_WINDOWS, EMPTY]).toEqual(expect.arrayContaining(asked))
      expect(asked).toContain(OPEN_WINDOWS[0])
      expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
    },
  )
})

describe("F60 a service's clock", () => {
  const WEEK_MS = 7 * 86_400_000

  it.concurrent('in the future makes no window final: what comes later is downloaded', async () => {
    const scenario = await newScenario()
    const { server, tree } = scenario
    const [last, next] = [FUTURE_WEEK, '2025-02-24']
    // The present window with two of its candles, as of a service whose clock is eight years ahead.
    server.shiftMs = 0.8 * TEN_YEARS
    putFile(tree, weekPath('BTCUSDT', last), weekRows(last, { days: 2 }), server.now())
    const first = await scenario.downloadInProcess()
    expect(first).toMatchObject({ code: 0, stderr: expect.stringMatching(NOTE) })

    // Until when the mirror is up to date is told by the earlier clock, too.
    expect(statSync(join(scenario.mirror, STORED_LIST)).mtimeMs).toBeLessThanOrEqual(PRESENT)

    // A week later its clock is right, and there are more candles.
    server.heal()
    server.shiftMs = WEEK_MS
    putFile(tree, weekPath('BTCUSDT', last), weekRows(last), server.now())
    putFile(tree, weekPath('BTCUSDT', next), weekRows(next, { days: 1 }), server.now())
    putFile(tree, LIST, [...START_DATES, next])
    const later = { force: true, now: PRESENT + WEEK_MS }
    // The next window is there first, with which the earlier one would be final.
    expect(await scenario.downloadInProcess({ ...later, from: next })).toMatchObject({ code: 0, stderr: '' })
    expect(server.windowRequests()).toEqual([weekPath('BTCUSDT', next)])
    expect(await scenario.downloadInProcess(later)).toMatchObject({ code: 0, stderr: '' })
    expect(server.windowRequests()).toContain(weekPath('BTCUSDT', last))
    const rows = [...treeRows('BTCUSDT').values(), weekRows(last), weekRows(next, { days: 1 })].flat()
    expect(scenario.sandbox.text('x.csv')).toBe(csvOf(rows))
  })

  it.concurrent('seems slow when a cache on the way says how old its copy is: no note', async () => {
    const scenario = await newScenario()
    scenario.server.shiftMs = -7_200_000
    scenario.server.everywhere(request => {
      const { file } = request
      return file ? reply('200 OK', ['Age: 7200'])(request) : healthy(request)
    })
    expect(await scenario.downloadInProcess()).toMatchObject({ code: 0, stderr: '' })
  })
})
