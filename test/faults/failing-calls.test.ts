import { describe, expect, it } from 'vitest'
import type { FailingCall } from '../support/cli/failing-fs.mjs'
import { expectPlainText } from './support/fault-case.js'
import { ALL_WINDOWS, LIST, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const OLD = 'what was there before\n'

describe('a call that fails', () => {
  it.each<[string, FailingCall, RegExp]>([
    [
      'F46 EMFILE, writing',
      { call: 'openSync', at: 6, path: 'm/.klines-tmp', code: 'EMFILE' },
      /Cannot write the mirror m: too many open files \(EMFILE\)/,
    ],
    [
      'F47 EIO, writing',
      { call: 'writeSync', at: 6, path: 'm/.klines-tmp', code: 'EIO' },
      /Cannot write the mirror m: input\/output error \(EIO\)/,
    ],
    [
      'F47 EIO, renaming',
      { call: 'renameSync', at: 6, path: 'm/.klines-tmp', code: 'EIO' },
      /Cannot write the mirror m: input\/output error \(EIO\)/,
    ],
  ])('%s a mirror stops a download cleanly and keeps finished files', async (_, fail, message) => {
    const scenario = await newScenario()
    const args = scenario.args(['--concurrency', '1']).filter(arg => arg !== '-o' && arg !== 'x.csv')
    const run = await scenario.run(args, { faults: [fail] })
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(message)
    expectPlainText(run.stderr)
    // The first two calls write the mirror's own files.
    expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS.slice(0, 2), LIST].sort())
    await scenario.expectRepair(ALL_WINDOWS.slice(2), { killed: true })
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

  it.each<[string, FailingCall]>([
    ['F47 EIO, writing', { call: 'handle.write', path: '.x.csv', code: 'EIO' }],
    ['F47 EIO, syncing', { call: 'handle.sync', path: '.x.csv', code: 'EIO' }],
    ['F47 EIO, renaming', { call: 'promises.rename', path: '.x.csv', code: 'EIO' }],
  ])('%s an export leaves the old file and no temp file', async (_, fail) => {
    const scenario = await newScenario()
    scenario.sandbox.write('x.csv', OLD)
    const run = await scenario.download({ args: ['--force'], faults: [fail] })
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toMatch(/^klines: Cannot write x\.csv: input\/output error \(EIO\)\.\n$/)
    expect(scenario.outputs()).toEqual(['x.csv'])
    expect(scenario.sandbox.text('x.csv')).toBe(OLD)
    await scenario.expectRepair()
  })

  it.each([[['export', '-o', 'y.csv']], [['stats']]])(
    'F47 EIO, reading a mirror is reported by %j',
    async ([command, ...args]) => {
      const scenario = await newScenario()
      expect((await scenario.downloadInProcess()).code).toBe(0)
      const run = await scenario.run([command, 'BTCUSDT', '-i', '15m', '--mirror', 'm', ...args], {
        faults: [{ call: 'readSync', at: 3, path: 'm/api', code: 'EIO' }],
      })
      expect(run).toMatchObject({ code: 3, stdout: '' })
      expect(run.stderr).toMatch(
        /^klines: Cannot read api\/klines\/\S+ of the mirror m: input\/output error \(EIO\)\.\n {2}Check/,
      )
      expect(scenario.outputs()).toEqual(['x.csv'])
    },
  )
})
