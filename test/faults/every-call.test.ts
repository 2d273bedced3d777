import { expect, it } from 'vitest'
import { FULL } from '../support/cases.js'
import { expectPlainText } from './support/fault-case.js'
import { ALL_WINDOWS, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const OLD = 'what was there before\n'
/** No run makes so many calls of one kind. */
const ALL_CALLS = Array.from({ length: 60 }, (_, index) => 1 + index)

/** Calls that fail, and the numbers of some of them; in a soak all fail in turn. */
const CALLS: readonly [call: string, path: string, code: string, numbers: readonly number[]][] = [
  ['writeFileSync', 'm/.klines-tmp', 'EMFILE', [6]],
  ['writeFileSync', 'm/.klines-tmp', 'ENOSPC', [1, 6]],
  ['renameSync', 'm/.klines-tmp', 'EIO', [1, 6]],
  ['handle.write', '.x.csv', 'ENOSPC', [1]],
  ['handle.sync', '.x.csv', 'EIO', [1]],
  ['promises.open', 'x.csv', 'EMFILE', [1]],
  ['promises.rename', '.x.csv', 'EIO', [1]],
]

it.each(CALLS)(
  'every call of the file system F47 %s in %s fails with %s: nothing corrupt is stored, and the next run repairs everything',
  async (call, path, code, numbers) => {
    let failures = 0
    for (const at of FULL ? ALL_CALLS : numbers) {
      const scenario = await newScenario()
      scenario.sandbox.write('x.csv', OLD)
      const faults = [{ call, path, code, at, times: 1 }]
      const run = await scenario.run(scenario.args(['--force', '--concurrency', '2', '-q']), { faults })
      if (run.code === 0 && run.stderr === '') break
      failures++
      expect([0, 1, 2, 3], run.stderr).toContain(run.code)
      expect(run.stderr).toContain(`(${code})`)
      expectPlainText(run.stderr)
      scenario.mirroredFiles()
      expect(scenario.sandbox.text('x.csv'), run.stderr).toBe(run.code === 0 ? scenario.expectedCsv() : OLD)
      expect(scenario.outputs()).toEqual(['x.csv'])
      scenario.server.heal()
      expect((await scenario.downloadInProcess({ force: true })).code).toBe(0)
      expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
      scenario.expectHealthy()
    }
    expect(failures).toBeGreaterThan(0)
  },
)

it('F46 with only a few file descriptors, nothing corrupt is stored', async () => {
  const scenario = await newScenario()
  const policy = { tries: 3, baseDelayMs: 30 }
  const run = await scenario.shell(`ulimit -n 26; ${scenario.command('--concurrency', '64')}`, { policy })
  expect([0, 1, 3, 5]).toContain(run.code)
  expectPlainText(run.stderr.replace(/^Note: .*\n/gm, ''))
  if (run.code !== 0) expect(run.stderr).toContain('EMFILE')
  const stored = scenario.mirroredFiles()
  expect(scenario.outputs()).toEqual(run.code === 0 ? ['x.csv'] : [])
  await scenario.expectRepair(ALL_WINDOWS.filter(path => !stored.includes(path)))
})
