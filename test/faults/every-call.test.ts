import { describe, expect, it } from 'vitest'
import { SOAK } from '../support/soak.js'
import { expectPlainText } from './support/fault-case.js'
import { ALL_WINDOWS, FAULTY, LIST, useFaultScenarios } from './support/fault-scenario.js'
import { raw, silence } from './support/responses.js'

const newScenario = useFaultScenarios()
const OLD = 'what was there before\n'
/** A bound for the loop: no run makes this many calls of one kind. */
const MOST_CALLS = 60

const CALLS: readonly [string, string][] = [
  ['openSync', 'm/'],
  ['readSync', 'm/'],
  ['writeSync', 'm/'],
  ['renameSync', 'm/'],
  ['handle.write', '.x.csv'],
  ['handle.sync', '.x.csv'],
  ['promises.open', 'x.csv'],
  ['promises.rename', '.x.csv'],
]

/** Takes minutes, so it runs only when KLINES_SOAK is set. */
describe.runIf(SOAK > 0)('every call of the file system (skipped without KLINES_SOAK)', () => {
  it.concurrent.each(
    CALLS.flatMap(([call, path]) => ['EIO', 'ENOSPC', 'EMFILE', 'SIGKILL'].map(code => [call, path, code])),
  )(
    'F47 %s in %s fails with %s: nothing corrupt is stored, and the next run repairs everything',
    async (call, path, code) => {
      let at = 1
      for (; at <= MOST_CALLS; at++) {
        const scenario = await newScenario()
        scenario.sandbox.write('x.csv', OLD)
        const faults = [{ call, path, code, at, times: 1 }]
        const { running } = scenario.start(scenario.args(['--force', '--concurrency', '2', '-q']), { faults })
        const run = await running.ended
        const killed = run.signal === 'SIGKILL'
        expect(killed || [0, 1, 2, 3].includes(run.code ?? -1), run.stderr).toBe(true)
        expectPlainText(run.stderr)
        const stored = scenario.mirroredFiles({ killed })
        expect([OLD, scenario.expectedCsv()], run.stderr).toContain(scenario.sandbox.text('x.csv'))
        if (run.code === 0) expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
        if (!killed) expect(scenario.outputs()).toEqual(['x.csv'])
        scenario.server.heal()
        expect((await scenario.downloadInProcess({ force: true })).code).toBe(0)
        expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
        scenario.expectHealthy()
        await scenario.stop()
        // The run made fewer calls of this kind.
        if (run.code === 0 && stored.length === ALL_WINDOWS.length + 1 && call !== 'readSync') break
      }
      expect(at).toBeGreaterThan(1)
    },
    600_000,
  )
})

describe.runIf(SOAK > 0)('with the default retry policy (skipped without KLINES_SOAK)', () => {
  it.concurrent.each([
    ['F08 silence before the headers', silence, /no answer in time|no whole answer/],
    [
      'F08 silence after the headers',
      raw('HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n'),
      /the body stopped coming|no whole answer/,
    ],
  ] as const)(
    '%s is given up within two minutes',
    async (_, answer, message) => {
      const scenario = await newScenario()
      scenario.server.always(FAULTY, answer)
      const started = performance.now()
      const run = await scenario.downloadInProcess()
      expect(run.code).toBe(3)
      expect(run.stderr).toMatch(message)
      expect(performance.now() - started).toBeLessThan(125_000)
      expect(scenario.server.requestsFor(FAULTY).length).toBeLessThanOrEqual(6)
      expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS.filter(path => path !== FAULTY), LIST].sort())
      await scenario.expectRepair([FAULTY])
    },
    180_000,
  )
})
