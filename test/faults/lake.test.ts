import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import { FULL } from '../support/cases.js'
import { type CliSandbox, useSandboxes } from '../support/cli/cli-sandbox.js'
import { usePreparedSandboxes } from '../support/cli/prepared-sandbox.js'
import { stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { onlyPart } from '../support/lake.js'
import { letAnHourPass } from '../support/let-an-hour-pass.js'
import { copySample } from '../support/sample-tree.js'
import { OPEN_WEEK, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const hasNamespaces = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
const EXPORT = ['export', 'BTCUSDT', 'ETHUSDT', '-i', '15m', '--mirror', 'm', '--layout', 'hive', '-o', 'lake']
const PARTS = [onlyPart('BTCUSDT'), onlyPart('ETHUSDT')]
const FILES = ['_README.md', '_klines.json', '_views.sql', ...PARTS]
/** No update makes so many calls of one kind. */
const ALL_CALLS = Array.from({ length: 40 }, (_, index) => 1 + index)

/** Sandboxes with a mirror whose lake lacks a candle of each series, and the complete lake in `new`. `old` is a copy of the first one. */
const changedSandbox = usePreparedSandboxes(newSandbox, async sandbox => {
  await stockedSandbox(sandbox)
  expect(await sandbox.call(EXPORT)).toMatchObject({ code: 0, stderr: '' })
  cpSync(sandbox.path('lake'), sandbox.path('old'), { recursive: true })
  for (const symbol of ['BTCUSDT', 'ETHUSDT'])
    putFile(sandbox.path('m'), weekPath(symbol, OPEN_WEEK), weekRows(OPEN_WEEK))
  expect(await sandbox.call([...EXPORT.slice(0, -1), 'new'])).toMatchObject({ code: 0, stderr: '' })
})

/** Runs an update in which the call number `at` kills the process or fails. */
function runWith(sandbox: CliSandbox, call: string, code: string, at: number) {
  const fault = { call, path: '/lake/', code, at, times: 1 }
  const args = [...EXPORT.slice(0, -1), sandbox.path('lake')]
  return code === 'SIGKILL' ? sandbox.runFailing(args, [fault]) : sandbox.call(args, {}, { faults: [fault] })
}

it.each([
  ['an update', 'F42', 'promises.rename', 2, 'SIGKILL'],
  ['an update', 'F42', 'handle.write', 3, 'SIGKILL'],
  ['a new lake', 'F42', 'promises.rename', 2, 'SIGKILL'],
  ['a new lake', 'F44', 'handle.write', 3, 'ENOSPC'],
])(
  'a lake in %s (%s) %s number %d ends with %s: every part is the old or the new one, and the next run completes the lake',
  async (kind, _, call, number, code) => {
    let failed = 0
    const newStart = async () => {
      const sandbox = await changedSandbox()
      if (kind === 'a new lake') rmSync(sandbox.path('lake'), { recursive: true })
      return sandbox
    }
    for (const at of FULL ? ALL_CALLS : [number]) {
      const sandbox = await newStart()
      const run = await runWith(sandbox, call, code, at)
      const killed = run.signal === 'SIGKILL'
      expect(killed || [0, 1].includes(run.code ?? -1), run.stderr).toBe(true)
      for (const path of PARTS) {
        if (kind === 'a new lake' && !sandbox.exists(`lake/${path}`)) continue
        const expected = [`new/${path}`, ...(kind === 'an update' ? [`old/${path}`] : [])]
        expect(expected.some(name => sandbox.bytes(name).equals(sandbox.bytes(`lake/${path}`)))).toBe(true)
      }
      if (!killed) expect(sandbox.files('lake').filter(name => !FILES.includes(name))).toEqual([])
      letAnHourPass(sandbox.path('lake'))
      expect(await sandbox.call(EXPORT)).toMatchObject({ code: 0, stderr: '' })
      expect(sandbox.files('lake')).toEqual(FILES)
      for (const path of PARTS) expect(sandbox.bytes(`lake/${path}`).equals(sandbox.bytes(`new/${path}`))).toBe(true)
      expect((await sandbox.call(EXPORT)).stdout).toContain('Lake lake: up to date, 0 parts written, 2 unchanged.')
      // The run made fewer calls of this kind.
      if (run.code === 0) break
      failed++
    }
    expect(failed).toBeGreaterThan(0)
  },
)

it('F44 a full disk below a lake leaves its parts as they were', async ({ skip }) => {
  if (!hasNamespaces) skip('needs unshare -rm and tmpfs')
  const sandbox = await changedSandbox()
  const script = `mkdir disk && mount -t tmpfs -o size=64k none disk && cp -r lake disk/lake && dd if=/dev/zero of=disk/rest bs=1k 2> /dev/null
klines ${[...EXPORT.slice(0, -1), 'disk/lake'].join(' ')}; echo $?; cp -r disk/lake after`
  const run = await sandbox.shell(`unshare -rm bash -c '${script}'`)
  expect(run.stdout).toBe('1\n')
  expect(run.stderr).toMatch(/^klines: Cannot write disk\/lake\/\S+: the disk is full \(ENOSPC\)\.\n/)
  expect(sandbox.files('after')).toEqual(FILES)
  for (const name of FILES) expect(sandbox.bytes(`after/${name}`).equals(sandbox.bytes(`old/${name}`)), name).toBe(true)
})

it('F43 a new lake of several intervals that fails in a thread leaves no folder', async () => {
  const sandbox = newSandbox()
  copySample(sandbox.path('m'))
  const args = ['export', 'all', '-i', '4h,1d', '--layout', 'hive', '-o', 'lake', '--mirror', 'm']
  const fault = { call: 'handle.sync', path: 'symbol=ETHUSDT/interval=4h', code: 'ENOSPC' }
  const run = await sandbox.runFailing([...args, '--threads', '3'], [fault])
  expect(run).toMatchObject({ code: 1, stdout: '' })
  expect(run.stderr).toContain('the disk is full (ENOSPC)')
  expect(sandbox.exists('lake')).toBe(false)
})
