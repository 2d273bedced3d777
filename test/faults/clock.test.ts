import { describe, expect, it } from 'vitest'
import { SHORT_DELAYS } from './support/fault-case.js'
import { ALL_WINDOWS, FAULTY, LIST, OPEN_WINDOWS, useFaultScenarios } from './support/fault-scenario.js'
import { reply } from './support/responses.js'

const newScenario = useFaultScenarios()
const TEN_YEARS = 10 * 365.25 * 86_400_000

const clocks: readonly [string, Record<string, string>][] = [
  ['ten years behind', { KLINES_TEST_SHIFT: String(-TEN_YEARS) }],
  ['ten years ahead', { KLINES_TEST_SHIFT: String(TEN_YEARS) }],
  ['that jumps ten years ahead and back', { KLINES_TEST_JUMP: String(TEN_YEARS) }],
  ['that jumps ten years back and ahead', { KLINES_TEST_JUMP: String(-TEN_YEARS) }],
]
const preload = ['shifted-clock.mjs']

describe('F52 a clock', () => {
  it.concurrent.each(clocks)(
    '%s yields the same candles, and the same windows are treated as final',
    async (_, env) => {
      const scenario = await newScenario()
      expect(await scenario.download({ env, preload })).toMatchObject({ code: 0, stderr: '' })
      expect(scenario.server.windowRequests().sort()).toEqual(ALL_WINDOWS)
      expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS, LIST].sort())
      expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
      scenario.server.heal()
      expect(await scenario.download({ env, preload, args: ['--force'] })).toMatchObject({ code: 0, stderr: '' })
      expect(scenario.server.windowRequests().sort()).toEqual(OPEN_WINDOWS)
      expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
    },
  )

  it.concurrent.each(clocks)('%s neither cuts the retries of a file short nor lengthens a pause', async (_, env) => {
    const scenario = await newScenario()
    scenario.server.script(
      FAULTY,
      reply('503 X', ['Retry-After: 1'], ''),
      reply('500 X'),
      reply('502 X'),
      reply('504 X'),
    )
    const run = await scenario.download({ env, preload, policy: SHORT_DELAYS })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const times = scenario.server.requestsFor(FAULTY).map(({ at }) => at)
    expect(times).toHaveLength(5)
    expect(times[1] - times[0]).toBeGreaterThan(950)
    expect(run.tookMs).toBeLessThan(15_000)
  })
})
