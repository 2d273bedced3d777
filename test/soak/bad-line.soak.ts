import { expect, it, onTestFinished } from 'vitest'
import { SHORT_DELAYS } from '../faults/support/fault-case.js'
import { startFaultProxy } from '../faults/support/fault-proxy.js'
import { ALL_WINDOWS, LIST, useFaultScenarios } from '../faults/support/fault-scenario.js'
import { times } from './support/factor.js'

const newScenario = useFaultScenarios()
const SEEDS = Array.from({ length: times(60) }, (_, index) => index + 1)

it.each(SEEDS)('a network with faults in six of ten connections loses and changes nothing (seed %d)', async seed => {
  const scenario = await newScenario()
  const proxy = await startFaultProxy({ target: scenario.server.port, seed, faultRate: 0.6, stallMs: 300 })
  onTestFinished(() => proxy.stop())
  const policy = { ...SHORT_DELAYS, tries: 30, attemptMs: 5_000 }
  const run = await scenario.download({ baseUrl: proxy.url, policy, args: ['--concurrency', '4'] })
  expect(run).toMatchObject({ code: 0, stderr: '' })
  expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS, LIST].sort())
  expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
})
