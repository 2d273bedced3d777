import { describe, expect, it } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { letAnHourPass } from '../support/let-an-hour-pass.js'
import { FULL_WEEKS } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const LOCK = 'klines.lock.json'
const args = ['lock', 'BTCUSDT', '-i', '15m', '--mirror', 'm']

describe('F90 a lock whose file cannot be written', () => {
  it.each([
    ['handle.write', 'ENOSPC'],
    ['promises.rename', 'EIO'],
  ])('%s fails with %s: the old lock stays, or none, and no temp file', async (call, code) => {
    const { sandbox } = await stockedSandbox(newSandbox())
    const fault = { call, code, path: LOCK }
    expect(await sandbox.call(args, {}, { faults: [fault] })).toMatchObject({ code: 1 })
    expect(sandbox.files().filter(name => name.includes('lock'))).toEqual([])
    expect(await sandbox.call([...args, '--to', FULL_WEEKS[2]])).toMatchObject({ code: 0 })
    const before = sandbox.text(LOCK)
    const run = await sandbox.call([...args, '--force'], {}, { faults: [fault] })
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toContain(code)
    expect(sandbox.text(LOCK)).toBe(before)
    expect(sandbox.files().filter(name => name.includes('lock'))).toEqual([LOCK])
  })

  it('a kill leaves none, or the old lock, and the next one cleans up', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    const expectCleanUp = async (...more: string[]) => {
      letAnHourPass(sandbox.folder)
      expect(await sandbox.call([...args, ...more])).toMatchObject({ code: 0 })
      expect(sandbox.files().filter(name => name.includes('lock'))).toEqual([LOCK])
    }
    const killed = await sandbox.runFailing(args, [{ call: 'promises.rename', code: 'SIGKILL', path: LOCK }])
    expect([killed.signal, sandbox.exists(LOCK)]).toEqual(['SIGKILL', false])
    await expectCleanUp('--to', FULL_WEEKS[2])
    const before = sandbox.text(LOCK)
    const again = await sandbox.runFailing(
      [...args, '--force'],
      [{ call: 'handle.write', code: 'SIGKILL', path: LOCK }],
    )
    expect([again.signal, sandbox.text(LOCK)]).toEqual(['SIGKILL', before])
    await expectCleanUp('--force')
  })
})
