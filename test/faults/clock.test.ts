import { describe, expect, it } from 'vitest'
import { reply } from './support/answers.js'
import { HASTY } from './support/fault-row.js'
import { ALL_WINDOWS, FAULTY, LIST, OPEN_WINDOWS, usePlaces } from './support/fault-scenario.js'

const newPlace = usePlaces()
const TEN_YEARS = 10 * 365.25 * 86_400_000

const clocks: readonly [string, Record<string, string>][] = [
  ['ten years behind', { KLINES_TEST_SHIFT: String(-TEN_YEARS) }],
  ['ten years ahead', { KLINES_TEST_SHIFT: String(TEN_YEARS) }],
  ['that jumps ten years ahead and back', { KLINES_TEST_JUMP: String(TEN_YEARS) }],
  ['that jumps ten years back and ahead', { KLINES_TEST_JUMP: String(-TEN_YEARS) }],
]
const preload = ['shifted-clock.mjs']

describe('F52 a clock', () => {
  it.concurrent.each(clocks)('%s has the same candles, and takes the same windows for final', async (_, env) => {
    const place = await newPlace()
    expect(await place.download({ env, preload })).toMatchObject({ code: 0, stderr: '' })
    expect(place.server.windows().sort()).toEqual(ALL_WINDOWS)
    expect(place.held()).toEqual([...ALL_WINDOWS, LIST].sort())
    expect(place.desk.text('x.csv')).toBe(place.csv())
    place.server.heal()
    expect(await place.download({ env, preload, args: ['--force'] })).toMatchObject({ code: 0, stderr: '' })
    expect(place.server.windows().sort()).toEqual(OPEN_WINDOWS)
    expect(place.desk.text('x.csv')).toBe(place.csv())
  })

  it.concurrent.each(clocks)('%s neither shortens the tries of a file nor lengthens a pause', async (_, env) => {
    const place = await newPlace()
    place.server.script(FAULTY, reply('503 X', ['Retry-After: 1'], ''), reply('500 X'), reply('502 X'), reply('504 X'))
    const run = await place.download({ env, preload, policy: HASTY })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const times = place.server.asked(FAULTY).map(({ at }) => at)
    expect(times).toHaveLength(5)
    expect(times[1] - times[0]).toBeGreaterThan(950)
    expect(run.tookMs).toBeLessThan(15_000)
  })
})
