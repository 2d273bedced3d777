import { describe, expect, it } from 'vitest'
import { callNumbers } from '../support/cases.js'
import { expectPlainText } from './support/fault-case.js'
import { ALL_WINDOWS, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const OLD = 'what was there before\n'
/** A bound for the loop: no run makes this many calls of one kind. */
const MOST_CALLS = 60

const CALLS: readonly [call: string, path: string, code: string][] = [
  ['openSync', 'm/.klines-tmp', 'EMFILE'],
  ['writeSync', 'm/.klines-tmp', 'ENOSPC'],
  ['renameSync', 'm/.klines-tmp', 'EIO'],
  ['handle.write', '.x.csv', 'ENOSPC'],
  ['handle.sync', '.x.csv', 'EIO'],
  ['promises.open', 'x.csv', 'EMFILE'],
  ['promises.rename', '.x.csv', 'EIO'],
]

describe('every call of the file system', () => {
  it.each(CALLS)(
    'F47 %s in %s fails with %s: nothing corrupt is stored, and the next run repairs everything',
    async (call, path, code) => {
      let failures = 0
      for (const at of callNumbers(MOST_CALLS)) {
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
})

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

it('F47 EIO, reading a mirror is reported by an export', async () => {
  const scenario = await newScenario()
  expect((await scenario.downloadInProcess()).code).toBe(0)
  const run = await scenario.run(['export', 'BTCUSDT', '-i', '15m', '--mirror', 'm', '-o', 'y.csv'], {
    faults: [{ call: 'readSync', at: 3, path: 'm/api', code: 'EIO' }],
  })
  expect(run).toMatchObject({ code: 3, stdout: '' })
  expect(run.stderr).toMatch(
    /^klines: Cannot read api\/klines\/\S+ of the mirror m: input\/output error \(EIO\)\.\n {2}Check/,
  )
  expect(scenario.outputs()).toEqual(['x.csv'])
})
