import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FailingCall } from '../support/cli/failing-fs.mjs'
import { PROMPT_MS, until } from '../support/deferred.js'
import { ALL_WINDOWS, FAULTY, type FaultScenario, LIST, useFaultScenarios } from './support/fault-scenario.js'
import { silence } from './support/responses.js'

const newScenario = useFaultScenarios()
const OLD = 'what was there before\n'
const stored = ALL_WINDOWS.slice(0, ALL_WINDOWS.indexOf(FAULTY))
const rest = ALL_WINDOWS.slice(stored.length)

/** A download, one request at a time, that waits for a window the server never sends; it has stored all windows before. */
async function startStalledDownload(): Promise<{
  scenario: FaultScenario
  running: ReturnType<FaultScenario['start']>['running']
}> {
  const scenario = await newScenario()
  scenario.sandbox.write('x.csv', OLD)
  scenario.server.always(FAULTY, silence)
  const { running } = scenario.start(scenario.args(['--concurrency', '1', '--force']), {
    preload: ['../../support/cli/forced-exit.mjs'],
  })
  await until(() => scenario.server.requestsFor(FAULTY).length === 1 && scenario.sandbox.exists(`m/${stored.at(-1)}`))
  return { scenario, running }
}

describe('a signal in a download', () => {
  // All signals: test/e2e/signals.test.ts.
  it.concurrent('F39 SIGINT ends it promptly, stored windows stay, and the next run requests the rest', async () => {
    const { scenario, running } = await startStalledDownload()
    const signalled = performance.now()
    running.child.kill('SIGINT')
    const run = await running.ended
    expect(performance.now() - signalled).toBeLessThan(PROMPT_MS)
    expect(run).toMatchObject({ code: 130, signal: null, stdout: '' })
    expect(run.stderr).toMatch(/^klines: Interrupted \(SIGINT\)[^\n]*\n$/)
    expect(scenario.mirroredFiles()).toEqual([...stored, LIST].sort())
    expect(scenario.outputs()).toEqual(['x.csv'])
    expect(scenario.sandbox.text('x.csv')).toBe(OLD)
    await scenario.expectRepair(rest)
  })

  it.concurrent('F39 SIGINT twice ends it', async () => {
    const { scenario, running } = await startStalledDownload()
    running.child.kill('SIGINT')
    running.child.kill('SIGINT')
    const { code, signal, stdout } = await running.ended
    // One that comes while Node shuts down finds no handler any more: to a shell both are 130.
    expect(signal === 'SIGINT' ? 130 : code).toBe(130)
    expect(stdout).toBe('')
    expect(scenario.mirroredFiles()).toEqual([...stored, LIST].sort())
    expect(scenario.sandbox.text('x.csv')).toBe(OLD)
    await scenario.expectRepair(rest, { killed: true })
  })
})

describe('kill -9', () => {
  /** The call in which the program kills itself, and how many files of the tree it has stored by then. */
  it.concurrent.each([
    ['F41 in the middle of writing a window', { call: 'writeFileSync', at: 3, path: 'm/.klines-tmp' }, 1],
    ['F42 in the middle of writing the export', { call: 'handle.write', path: '.x.csv' }, 9],
  ] as [string, Omit<FailingCall, 'code'>, number][])(
    '%s: nothing is torn, and the next run continues',
    async (_, fail, fileCount) => {
      const scenario = await newScenario()
      scenario.sandbox.write('x.csv', OLD)
      const faults = [{ ...fail, code: 'SIGKILL' }]
      const { running } = scenario.start(scenario.args(['--force', '--concurrency', '1']), { faults })
      expect(await running.ended).toMatchObject({ signal: 'SIGKILL', stdout: '' })
      const temps = readdirSync(join(scenario.mirror, '.klines-tmp'))
      expect(temps).toHaveLength(fileCount < 9 ? 1 : 0)
      const files = scenario.mirroredFiles({ killed: true })
      expect(files).toHaveLength(fileCount)
      expect(scenario.sandbox.text('x.csv')).toBe(OLD)
      await scenario.expectRepair(
        ALL_WINDOWS.filter(path => !files.includes(path)),
        { killed: true },
      )
      expect(readdirSync(join(scenario.mirror, '.klines-tmp'))).toEqual([])
    },
  )
})
