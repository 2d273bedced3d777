import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesBelow } from '../support/files-below.js'
import { WITHOUT_ROOT, whileReadOnly } from '../support/permission.js'
import { expectPlainText } from './support/fault-case.js'
import { ALL_WINDOWS, type FaultScenario, LIST, useFaultScenarios } from './support/fault-scenario.js'

const newScenario = useFaultScenarios()

const hasNamespaces = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0

/** Skips a test where no disk can be mounted, with the reason. */
const needNamespaces = (skip: (note: string) => void) => {
  if (!hasNamespaces) skip('needs unshare -rm and tmpfs')
}

/**
 * Runs a script in a mount namespace, after the command `mount` has mounted a small disk there. To change the disk, the script
 * has to name its source too: else `mount` repeats its options, among them the user, who has no such number in the namespace.
 */
function onDisk(scenario: FaultScenario, mount: string, script: string): ReturnType<FaultScenario['shell']> {
  return scenario.shell(`unshare -rm bash -c '${mount} && ${script.replaceAll("'", `'\\''`)}'`)
}

/** The scenario's download without its export. */
const withoutOutput = (scenario: FaultScenario) => scenario.command().replace(' -o x.csv', '')

describe('F43 a full disk', () => {
  it.concurrent('under the mirror stops a download and keeps finished files, and the next run continues', async ({
    skip,
  }) => {
    needNamespaces(skip)
    const scenario = await newScenario()
    const download = `${withoutOutput(scenario)} --concurrency 1`
    const run = await onDisk(
      scenario,
      'mkdir m && mount -t tmpfs -o size=24k none m',
      `${download}; echo $?; cp -a m before`,
    )
    expect(run.stdout).toBe('3\n')
    expect(run.stderr).toMatch(
      /^klines: Cannot write api\/klines\/15m\/BTCUSDT\/[^ ]* of the mirror m: the disk is full \(ENOSPC\)\.\n {2}Make room, [^\n]*\n$/,
    )
    rmSync(scenario.mirror, { recursive: true })
    renameSync(scenario.sandbox.path('before'), scenario.mirror)
    const first = scenario.mirroredFiles()
    expect(first.length).toBeGreaterThan(1)
    expect(first.length).toBeLessThan(ALL_WINDOWS.length)
    // On the full disk nothing could be written of what was known of the empty window.
    await scenario.expectRepair(
      ALL_WINDOWS.filter(path => !first.includes(path)),
      { killed: true },
    )
  })

  it.concurrent('under the export leaves the old file, and no temp file', async ({ skip }) => {
    needNamespaces(skip)
    const scenario = await newScenario()
    const command = scenario.command('--force').replace('x.csv', 'full/x.csv')
    const script = `echo was > full/x.csv; ${command}; echo $?; ls -A full; cat full/x.csv`
    const run = await onDisk(scenario, 'mkdir full && mount -t tmpfs -o size=8k none full', script)
    expect(run).toMatchObject({ stdout: '1\nx.csv\nwas\n' })
    expect(run.stderr).toMatch(/^klines: Cannot write full\/x\.csv: the disk is full \(ENOSPC\)\.\n/)
    expectPlainText(run.stderr)
    expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS, LIST].sort())
    await scenario.expectRepair()
  })
})

describe('F44 no permission', () => {
  /** Runs as a user who may read the whole sandbox and write into `open` only. */
  function runReadOnly({ sandbox }: FaultScenario, command: string) {
    const open = sandbox.path('open')
    mkdirSync(open)
    for (let folder = sandbox.folder; folder.includes('klines-faults-'); folder = dirname(folder))
      chmodSync(folder, 0o755)
    return whileReadOnly(sandbox.folder, () => {
      chmodSync(open, 0o777)
      return sandbox.shell([...WITHOUT_ROOT, command].join(' '))
    })
  }

  it.concurrent('for the mirror stops a download before the first window', async () => {
    const scenario = await newScenario()
    mkdirSync(scenario.mirror)
    const run = await runReadOnly(scenario, withoutOutput(scenario))
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toMatch(
      /^klines: Cannot write the mirror m: permission denied \(EACCES\)\.\n {2}Name another folder with --mirror\./,
    )
    expect(scenario.server.windowRequests().length).toBeLessThan(2)
    expect(filesBelow(scenario.mirror)).toEqual([])
    await scenario.expectRepair(ALL_WINDOWS)
  })

  it.concurrent('for the export is reported before the first window', async () => {
    const scenario = await newScenario()
    const run = await runReadOnly(scenario, scenario.command().replace('--mirror m', '--mirror open/m'))
    expect(run).toMatchObject({ code: 1, stdout: '' })
    expect(run.stderr).toMatch(/^klines: Cannot write x\.csv: permission denied \(EACCES\)\.\n/)
    expect(scenario.server.windowRequests()).toEqual([])
    expect(scenario.sandbox.exists('x.csv')).toBe(false)
  })
})

it.concurrent('F45 a read-only disk under the mirror stops a download, but not an export', async ({ skip }) => {
  needNamespaces(skip)
  const scenario = await newScenario()
  expect((await scenario.downloadInProcess()).code).toBe(0)
  renameSync(scenario.mirror, scenario.sandbox.path('ready'))
  const script = [
    'cp -a ready/. m && mount -o remount,ro none m',
    `{ ${withoutOutput(scenario)}; echo $?; }`,
    'klines export BTCUSDT -i 15m --mirror m -o y.csv -q',
  ].join(' && ')
  const run = await onDisk(scenario, 'mkdir m && mount -t tmpfs none m', script)
  expect(run).toMatchObject({ code: 0, stdout: '3\n' })
  expect(run.stderr).toMatch(
    /^klines: Cannot write the mirror m: the file system is read-only \(EROFS\)\.\n {2}Name another folder with --mirror\./,
  )
  expect(scenario.sandbox.text('y.csv')).toBe(scenario.expectedCsv())
})
