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

  it('a kill before the first lock is in its place leaves none, and the next one cleans up', async () => {
    const { sandbox } = await stockedSandbox(newSandbox())
    const killed = await sandbox.runFailing(args, [{ call: 'promises.rename', code: 'SIGKILL', path: LOCK }])
    expect(killed.signal).toBe('SIGKILL')
    expect(sandbox.exists(LOCK)).toBe(false)
    letAnHourPass(sandbox.folder)
    expect(await sandbox.call(args)).toMatchObject({ code: 0 })
    expect(sandbox.files().filter(name => name.includes('lock'))).toEqual([LOCK])
  })

  it.each(['handle.write', 'promises.rename'])('a kill at %s leaves the old lock', async call => {
    const { sandbox } = await stockedSandbox(newSandbox())
    expect(await sandbox.call([...args, '--to', FULL_WEEKS[2]])).toMatchObject({ code: 0 })
    const before = sandbox.text(LOCK)
    const killed = await sandbox.runFailing([...args, '--force'], [{ call, code: 'SIGKILL', path: LOCK }])
    expect(killed.signal).toBe('SIGKILL')
    expect(sandbox.text(LOCK)).toBe(before)
    letAnHourPass(sandbox.folder)
    expect(await sandbox.call([...args, '--force'])).toMatchObject({ code: 0 })
    expect(sandbox.files().filter(name => name.includes('lock'))).toEqual([LOCK])
  })
})
