import { describe, expect, it } from 'vitest'
import { SYMBOLS } from '../support/synthetic-tree.js'
import { expectPlainText, SHORT_DELAYS } from './support/fault-case.js'
import { ALL_WINDOWS, LIST, useFaultScenarios } from './support/fault-scenario.js'
import { ok, reply } from './support/responses.js'

const newScenario = useFaultScenarios()
const PAGE = '<!DOCTYPE html><html><title>Sign in</title><p>Pay for this network</p></html>'

it.concurrent('F24 a host with 5xx for every window: ten failures in a row end the run with exit code 5', async () => {
  const scenario = await newScenario()
  for (const symbol of SYMBOLS) {
    for (const path of ALL_WINDOWS) scenario.server.always(path.replace('BTCUSDT', symbol), reply('503 X', [], ''))
  }
  const args = scenario.args(['--concurrency', '4']).map(arg => (arg === 'BTCUSDT' ? 'all' : arg))
  const run = await scenario.run(args, { policy: SHORT_DELAYS })
  expect(run).toMatchObject({ code: 5, stdout: '' })
  expect(run.stderr).toMatch(
    /answered 503 \(Service Unavailable\); tried 6 times for each of 10 files in a row\.\n {2}Try again later[\s\S]*klines export/,
  )
  expectPlainText(run.stderr)
  // Ten windows failed after six tries; those in flight beside the tenth have had at most as many.
  expect(scenario.server.windowRequests().length).toBeGreaterThanOrEqual(60)
  expect(scenario.server.windowRequests().length).toBeLessThanOrEqual(13 * 6)
  expect(scenario.server.peak).toBeLessThanOrEqual(4)
  expect(scenario.mirroredFiles()).toEqual([LIST, 'api/klines/symbols.json'])
  expect(scenario.outputs()).toEqual([])
  await scenario.expectRepair(ALL_WINDOWS)
})

describe('F15 a captive portal', () => {
  it.concurrent('for every request is detected with the first list, and nothing is stored', async () => {
    const scenario = await newScenario()
    scenario.server.everywhere(ok(PAGE, 'Content-Type: text/html'))
    const run = await scenario.download({ policy: SHORT_DELAYS })
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toMatch(
      /did not answer with JSON; tried 3 times for the list of 15m start dates\.\n[\s\S]*sign-in page[\s\S]*--base-url/,
    )
    expectPlainText(run.stderr)
    expect(scenario.server.log.map(({ path }) => path)).toEqual([LIST, LIST, LIST])
    expect(scenario.mirroredFiles()).toEqual([])
    await scenario.expectRepair(ALL_WINDOWS, { byProgram: true })
  })

  it.concurrent('that appears during a run ends it after three windows in a row', async () => {
    const scenario = await newScenario()
    for (const path of ALL_WINDOWS.slice(2)) scenario.server.always(path, ok(PAGE, 'Content-Type: text/html'))
    const run = await scenario.download({ policy: SHORT_DELAYS, args: ['--concurrency', '1'] })
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toMatch(/did not answer with JSON; tried 3 times for each of 3 files in a row\./)
    expectPlainText(run.stderr)
    expect(scenario.server.windowRequests()).toHaveLength(2 + 3 * 3)
    expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS.slice(0, 2), LIST].sort())
    expect(scenario.outputs()).toEqual([])
    await scenario.expectRepair(ALL_WINDOWS.slice(2))
  })
})
