import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FailingCall } from '../support/cli/failing-fs.mjs'
import { oneOf } from '../support/full.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { putFile, STARTED, weekPath } from '../support/synthetic-tree.js'
import { ALL_WINDOWS, FAULTY, LIST, type RunOptions, useFaultScenarios } from './support/fault-scenario.js'

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

describe('F88 a temp file beside the files of another disk', () => {
  const LIVING = `${SERIES}/.klines-tmp.${hostname().slice(0, 64)}~${process.pid}~0011223344556677`
  const DEAD = `${SERIES}/.klines-tmp.${hostname().slice(0, 64)}~4194305~0011223344556677`
  const FOREIGN = `${SERIES}/.klines-tmp.other~1~0011223344556677`
  const OTHER = `${SERIES}/.klines-tmp.notes`

  it.concurrent('that a killed download has left is removed by mirror prune, and by mirror verify --repair', async () => {
    for (const args of oneOf(2, [
      ['prune', '--yes'],
      ['verify', '--repair'],
    ])) {
      const scenario = await newScenario()
      const kill = { call: 'renameSync', path: '/.klines-tmp.', at: 5, code: 'SIGKILL' }
      const { sandbox } = scenario
      expect(await scenario.download(failing(OTHER_DISK, kill))).toMatchObject({ signal: 'SIGKILL' })
      const left = sandbox.files('m').filter(name => name.includes('/.klines-tmp.'))
      expect(left).toEqual([expect.stringMatching(/^api\/klines\/15m\/BTCUSDT\/\.klines-tmp\.[^~]+~\d+~[0-9a-f]{16}$/)])
      const found = await sandbox.call(['mirror', 'verify', '--mirror', 'm', '--json'])
      expect(JSON.parse(found.stdout)).toMatchObject({ corrupt: [{ path: left[0] }], strays: [] })
      expect(found.code).toBe(6)
      expect(await sandbox.call(['mirror', ...args, '--mirror', 'm'])).toMatchObject({ code: 0 })
      expect(sandbox.files('m').filter(name => name.includes('klines-tmp'))).toEqual([])
      expect(await scenario.downloadInProcess()).toMatchObject({ code: 0 })
      scenario.expectHealthy()
    }
  })

  it.concurrent('is part of nothing, and only those of ended processes are removed', async () => {
    const scenario = await newScenario()
    const { sandbox, mirror, tree, server } = scenario
    cpSync(tree, mirror, { recursive: true, preserveTimestamps: true })
    putFile(mirror, 'mirror.json', { layout: 1, baseUrl: server.url, complete: false })
    const temps = [LIVING, DEAD, FOREIGN]
    for (const path of [...temps, OTHER]) putFile(mirror, path, '[[1')

    const check = await sandbox.call(['mirror', 'verify', '--mirror', 'm', '--json'])
    expect(JSON.parse(check.stdout)).toMatchObject({
      corrupt: [DEAD, FOREIGN].sort().map(path => ({ path })),
      strays: [OTHER],
      windows: 16,
    })
    const status = await sandbox.call(['mirror', 'status', '--mirror', 'm', '--json'])
    expect(JSON.parse(status.stdout).series.map(({ windows }: { windows: number }) => windows)).toEqual([8, 8])
    const { url, stop } = await startServeCommand(sandbox, ['--mirror', 'm'])
    for (const path of temps) expect((await fetch(`${url}/${path}`)).status).toBe(404)
    expect((await fetch(`${url}/${weekPath('BTCUSDT', STARTED[1])}`)).status).toBe(200)
    await stop()

    const dry = await sandbox.call(['mirror', 'prune', '--mirror', 'm', '--dry-run', '--json'])
    expect(JSON.parse(dry.stdout).removed.sort()).toEqual([DEAD, FOREIGN, OTHER].sort())
    expect(await sandbox.call(['mirror', 'prune', '--mirror', 'm', '--yes'])).toMatchObject({ code: 0 })
    expect(sandbox.files('m').filter(name => name.includes('klines-tmp'))).toEqual([LIVING])
    expect(sandbox.exists(`m/${LIST}`)).toBe(true)
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
