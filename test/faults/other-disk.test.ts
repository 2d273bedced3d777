import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FailingCall } from '../support/cli/failing-fs.mjs'
import { oneOf } from '../support/full.js'
import { ALL_WINDOWS, FAULTY, type RunOptions, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()
const hasNamespaces = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
const SERIES = dirname(FAULTY)

/** As if the folder of temp files were on a disk of its own: no file of it can be renamed into another folder. */
const OTHER_DISK = { call: 'renameSync', path: 'm/.klines-tmp/', code: 'EXDEV' }
const failing = (...faults: FailingCall[]): RunOptions => ({ faults, inChildProcess: true })

describe('F88 a mirror whose temp files are on another disk than', () => {
  it.concurrent('all its other files is written, and no temp file stays', async () => {
    const scenario = await newScenario()
    expect(await scenario.download(failing(OTHER_DISK))).toMatchObject({ code: 0, stderr: '' })
    scenario.expectHealthy()
    expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
    await scenario.expectRepair()
  })

  it.runIf(hasNamespaces).each(
    oneOf(4, [
      ['a series', `mkdir -p m/${SERIES} && mount -t tmpfs none m/${SERIES}`],
      ['an interval', `mkdir -p m/${dirname(SERIES)} && mount -t tmpfs none m/${dirname(SERIES)}`],
      ['the rest', 'mkdir -p m/.klines-tmp && mount -t tmpfs none m/.klines-tmp'],
      ['a series, by a second mount of one disk', `mkdir -p m/${SERIES} real && mount --bind real m/${SERIES}`],
    ]),
  )('%s is written (skipped without unshare -rm and tmpfs)', async (_, script) => {
    const scenario = await newScenario()
    const run = await scenario.shell(
      `unshare -rm bash -c '${script} && ${scenario.command('-q')} && cp -rp m copy' && rm -r m && mv copy m`,
    )
    expect(run).toMatchObject({ code: 0, stderr: '' })
    scenario.expectHealthy()
    await scenario.expectRepair()
  })
})

it('F88 an own file of a mirror, too: nothing stays at its root', async () => {
  const scenario = await newScenario()
  const kill = { call: 'renameSync', path: 'm/.klines-tmp.', at: 2, code: 'SIGKILL' }
  expect(await scenario.download(failing(OTHER_DISK, kill))).toMatchObject({ signal: 'SIGKILL' })
  const temps = () => scenario.sandbox.files('m').filter(name => name.startsWith('.klines-tmp.'))
  expect(temps()).toHaveLength(1)
  await scenario.expectRepair(ALL_WINDOWS)
  expect(temps()).toEqual([])
})
