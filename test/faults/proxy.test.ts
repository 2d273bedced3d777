import { afterAll, describe, expect, it } from 'vitest'
import { SOAK } from '../support/soak.js'
import { SHORT_DELAYS } from './support/fault-case.js'
import { type FaultProxy, type ProxyFault, seededRandom, startFaultProxy } from './support/fault-proxy.js'
import { ALL_WINDOWS, LIST, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const proxies: FaultProxy[] = []
afterAll(() => Promise.all(proxies.map(proxy => proxy.stop())))

/** Downloads through a faulty network. Fails unless the run succeeds and stores exactly what the service has. */
async function downloadThroughFaults(seed: number, faults?: readonly ProxyFault[]) {
  const scenario = await newScenario()
  const proxy = await startFaultProxy({ target: scenario.server.port, seed, faultRate: 0.6, faults, stallMs: 300 })
  proxies.push(proxy)
  const policy = { ...SHORT_DELAYS, tries: 30, attemptMs: 5_000 }
  const run = await scenario.download({ baseUrl: proxy.url, policy, args: ['--concurrency', '4'] })
  expect(run).toMatchObject({ code: 0, stderr: '' })
  expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS, LIST].sort())
  expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
  return { scenario, proxy }
}

describe('a network with random faults', () => {
  it.concurrent.each(Array.from({ length: 3 + 20 * SOAK }, (_, index) => index + 1))(
    'loses and changes nothing (seed %d)',
    async seed => {
      const { proxy } = await downloadThroughFaults(seed)
      expect(proxy.faultCounts.none).toBeGreaterThanOrEqual(0)
    },
  )

  it.concurrent('F09 that is slow and late does not cause a second request for a file', async () => {
    const { scenario } = await downloadThroughFaults(7, ['bandwidth', 'latency', 'slice'])
    expect(scenario.server.log).toHaveLength(ALL_WINDOWS.length + 1)
  })
})

it('the same seed yields the same numbers, and another seed others', () => {
  const numbers = (seed: number) => Array.from({ length: 8 }, seededRandom(seed))
  expect(numbers(1)).toEqual(numbers(1))
  expect(numbers(1)).not.toEqual(numbers(2))
  expect(numbers(3).every(number => number >= 0 && number < 1)).toBe(true)
})
