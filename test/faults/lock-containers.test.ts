import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type CliSandbox, FAILING_FS, type Running, useSandboxes } from '../support/cli/cli-sandbox.js'
import { usePreparedSandboxes } from '../support/cli/prepared-sandbox.js'
import { stockedSandbox } from '../support/cli/stocked-sandbox.js'
import { deferred, until } from '../support/deferred.js'
import { expectedSums, logNames, type Sums, tableSums } from '../support/delta.js'
import { cases, oneOf, oneTestOf } from '../support/full.js'
import { FULL_WEEKS, OPEN_WEEK, PRESENT, putFile, weekPath, weekRows } from '../support/synthetic-tree.js'

const newSandbox = useSandboxes()
const support = (name: string) => fileURLToPath(new URL(`support/${name}`, import.meta.url))
const [UPDATE_LAKE, TAKE_LOCK] = ['update-lake.mjs', 'take-lock.mjs'].map(support)
/** A container as far as processes go: a PID namespace of its own, in which the program is number 1. The host name is that of this machine. */
const CONTAINER = 'unshare -rmpf --kill-child --mount-proc'
const hasContainers = spawnSync('bash', ['-c', `${CONTAINER} test -e /proc/self/ns/pid`]).status === 0
const NO_CONTAINERS = 'needs unshare -rmpf --mount-proc'
const hasIdentity = existsSync('/proc/self/ns/pid')
const NO_IDENTITY = 'needs /proc, which says what tells processes apart'

const [WEEK] = FULL_WEEKS
const SYMBOLS = ['BTCUSDT', 'ETHUSDT']
const SERIES = [...SYMBOLS, '-i', '15m', '--mirror', 'm', '--numbers', 'decimal', '--layout', 'hive']
const TABLE = ['export', ...SERIES, '--table', 'delta', '-o', 'lake']
const WAITING =
  /^Note: lake\/_lock is the lock of process 1 of another machine or container that is called \S+\. Waiting for up to a minute, to see whether it still writes the lake\.$/m

function quoted(args: readonly string[]): string {
  return args.map(arg => `'${arg}'`).join(' ')
}

/** Starts the program in a container. */
function startContained(sandbox: CliSandbox, args: readonly string[], env = {}): Running {
  return sandbox.startShell(`exec ${CONTAINER} klines ${quoted(args)}`, env)
}

/** Updates the lake, where a minute of waiting takes no time: in a container, or here. */
async function updateFast(sandbox: CliSandbox, { container = '' } = {}) {
  const path = (name: string) => sandbox.path(name)
  const request = {
    ...{ symbols: SYMBOLS, intervals: ['15m'], mirror: path('m'), output: path('lake'), offline: true, now: PRESENT },
    ...{ table: 'delta', numbers: 'decimal' },
  }
  const run = await sandbox.shell(
    `exec ${container} ${process.execPath} ${quoted([UPDATE_LAKE, JSON.stringify(request)])}`,
  )
  expect(run).toMatchObject({ code: 0, stderr: '' })
  return JSON.parse(run.stdout)
}

/** A table, a change of both series, and a run with the lock that waits for the service in a container. */
async function heldContainer() {
  const { sandbox, server } = await stockedSandbox(newSandbox())
  expect(await sandbox.call(TABLE)).toMatchObject({ code: 0, stderr: '' })
  const rows = weekRows(WEEK, { seed: 7 })
  for (const symbol of SYMBOLS) putFile(sandbox.path('m'), weekPath(symbol, WEEK), rows)
  const changed = expectedSums(Object.fromEntries(SYMBOLS.map(symbol => [`${symbol} ${WEEK}`, rows])))
  const [reached, ended] = [deferred(), deferred()]
  server.hold = () => {
    reached.resolve()
    return ended.promise
  }
  const args = ['download', ...SERIES, '--table', 'delta', '-o', 'lake', '--base-url', server.url]
  const running = startContained(sandbox, args)
  await reached.promise
  const lock = JSON.parse(sandbox.text('lake/_lock').split('\n')[0])
  return { sandbox, running, changed, lock, goOn: () => ended.resolve() }
}

/** Kills a container with all that is in it. */
async function kill({ child, ended }: Running) {
  process.kill(-(child.pid as number), 'SIGKILL')
  await ended
}

/** The table has all of its parts, `klines` reads it as an independent reader does, and no temp file is left. */
async function expectTable(sandbox: CliSandbox, sums: Sums, versions: number) {
  const table = sandbox.path('lake')
  expect(logNames(table)).toHaveLength(versions)
  expect(await tableSums(table)).toEqual(sums)
  expect(await tableSums(table, 0)).toEqual(expectedSums())
  expect(sandbox.files('lake').filter(name => name.includes('~') || name === '_lock')).toEqual([])
  expect((await sandbox.call(TABLE)).stdout).toContain('Lake lake: up to date, 0 parts written, 2 unchanged.')
}

describe('F76 two containers with one host name and one process number write one table', () => {
  const itIsKept = oneTestOf(2, it)

  it('one writes; the other one waits, sees that it is running, and ends with 5', async ({ skip }) => {
    if (!hasContainers) skip(NO_CONTAINERS)
    const { sandbox, running, changed, lock, goOn } = await heldContainer()
    expect(lock.pid).toBe(1)
    const text = sandbox.text('lake/_lock')
    const refused = await startContained(sandbox, TABLE).ended
    expect(refused).toMatchObject({ code: 5, stdout: '' })
    expect(refused.stderr).toMatch(WAITING)
    expect(refused.stderr.match(/Waiting/g)).toHaveLength(1)
    expect(refused.stderr).toContain(
      `klines: The lake is being written by process 1 of another machine or container that is called ${lock.host}: lake/_lock is its lock.`,
    )
    expect(sandbox.text('lake/_lock').split('\n')[0]).toBe(text.split('\n')[0])
    goOn()
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
    await expectTable(sandbox, changed, 2)
  })

  it('the lock of one that was killed is taken over after a minute, from a container and from outside', async ({
    skip,
  }) => {
    if (!hasContainers) skip(NO_CONTAINERS)
    for (const container of oneOf(2, [CONTAINER, ''])) {
      const { sandbox, running, changed } = await heldContainer()
      await kill(running)
      expect(sandbox.exists('lake/_lock')).toBe(true)
      const result = await updateFast(sandbox, { container })
      expect(result).toMatchObject({ lake: { written: 2, delta: { version: 1, isNew: true } }, looks: 60 })
      if (container) expect(result.pid).toBe(1)
      expect(result.warnings).toEqual([expect.stringContaining('Waiting for up to a minute')])
      await expectTable(sandbox, changed, 2)
    }
  })

  itIsKept('one that stood still while another one took over places nothing and removes nothing', async ({ skip }) => {
    if (!hasContainers) skip(NO_CONTAINERS)
    const { sandbox, running, changed, goOn } = await heldContainer()
    const { pid } = running.child
    process.kill(-(pid as number), 'SIGSTOP')
    expect(await updateFast(sandbox)).toMatchObject({ lake: { written: 2, delta: { version: 1 } }, looks: 60 })
    // What the first one would write differs.
    putFile(sandbox.path('m'), weekPath('BTCUSDT', OPEN_WEEK), weekRows(OPEN_WEEK, { seed: 1 }))
    goOn()
    process.kill(-(pid as number), 'SIGCONT')
    const run = await running.ended
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toContain('klines: This run has lost its lock on the lake: lake/_lock is gone.')
    const table = sandbox.path('lake')
    expect(logNames(table)).toHaveLength(2)
    expect(await tableSums(table)).toEqual(changed)
    expect(sandbox.files('lake').filter(name => name.includes('~'))).toEqual([])
  })

  itIsKept(
    'several that begin at once: whatever ends with 0 is in the table, all others end with 5',
    async ({ skip }) => {
      if (!hasContainers) skip(NO_CONTAINERS)
      const sandbox = await withTable()
      const rows = weekRows(WEEK, { seed: 7 })
      for (const symbol of SYMBOLS) putFile(sandbox.path('m'), weekPath(symbol, WEEK), rows)
      const changed = expectedSums(Object.fromEntries(SYMBOLS.map(symbol => [`${symbol} ${WEEK}`, rows])))
      const runs = await Promise.all(Array.from({ length: 3 }, () => startContained(sandbox, TABLE).ended))
      for (const { code, stderr } of runs) expect([0, 5], stderr).toContain(code)
      expect(runs.map(({ code }) => code)).toContain(0)
      await expectTable(sandbox, changed, 2)
    },
  )

  itIsKept('three that find the lock of a killed one: one gets it', async ({ skip }) => {
    if (!hasContainers) skip(NO_CONTAINERS)
    const sandbox = newSandbox()
    const lakes = makeLakes(sandbox, 5, { ...(await liveLock()), boot: 'an earlier start', id: 'the dead one' })
    const results = await takeLocks(sandbox, lakes, { container: CONTAINER, env: { KLINES_TEST_DEAD: 'the dead one' } })
    for (const taken of results) expect(taken.sort()).toEqual(['lake_busy', 'lake_busy', 'taken'])
  })
})

/** Sandboxes with a mirror and a table of it. */
const withTable = usePreparedSandboxes(newSandbox, async sandbox => {
  await stockedSandbox(sandbox)
  expect(await sandbox.call(TABLE)).toMatchObject({ code: 0, stderr: '' })
})

/** The lock of a process that was running, as the program writes it; made once. */
let known: ReturnType<typeof makeLock> | undefined
function liveLock() {
  known ??= makeLock(newSandbox())
  return known
}

async function makeLock(sandbox: CliSandbox) {
  mkdirSync(sandbox.path('probe'))
  const running = sandbox.startNode([TAKE_LOCK, 'probe', 'probe'])
  sandbox.write('go', '')
  await until(() => sandbox.exists('probe.done'))
  const lock = JSON.parse(sandbox.text('probe/_lock').split('\n')[0])
  sandbox.write('stop', '')
  expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
  return lock
}

function makeLakes(sandbox: CliSandbox, count: number, owner: object): string[] {
  return Array.from({ length: count }, (_, index) => {
    mkdirSync(sandbox.path(`lake-${index}`))
    writeLock(sandbox, `lake-${index}`, { ...owner })
    return `lake-${index}`
  })
}

function writeLock(sandbox: CliSandbox, lake: string, owner: object): string {
  const text = `${JSON.stringify(owner)}\n0000000000\n`
  writeFileSync(sandbox.path(`${lake}/_lock`), text)
  return text
}

/** Three processes take the locks of all lakes at once; returns what became of each lock. No lock is free before all have ended. */
async function takeLocks(sandbox: CliSandbox, lakes: readonly string[], { container = '', env = {} } = {}) {
  const names = ['a', 'b', 'c']
  const running = names.map(name =>
    sandbox.startShell(`exec ${container} ${process.execPath} ${quoted([TAKE_LOCK, name, ...lakes])}`, env),
  )
  sandbox.write('go', '')
  await until(() => names.every(name => sandbox.exists(`${name}.done`)))
  for (const lake of lakes) expect(sandbox.files(lake)).toEqual(['_lock'])
  sandbox.write('stop', '')
  for (const { ended } of running) expect(await ended).toMatchObject({ code: 0, stderr: '' })
  const results = names.map(name => JSON.parse(sandbox.text(`${name}.json`)).results as string[])
  return lakes.map((_, index) => results.map(result => result[index]))
}

describe('F76 a lock of this machine', () => {
  it('whose process was killed is taken over at once, by one of three', async ({ skip }) => {
    if (!hasIdentity) skip(NO_IDENTITY)
    const sandbox = newSandbox()
    const lakes = makeLakes(sandbox, cases(150, 60), await liveLock())
    const results = await takeLocks(sandbox, lakes)
    for (const taken of results) expect(taken.sort()).toEqual(['lake_busy', 'lake_busy', 'taken'])
  })

  it.each(
    oneOf<[string, (owner: object) => object]>(2, [
      ['with a number that another process has now', owner => ({ ...owner, ...running(), started: '1' })],
      ['with a number that nothing has', owner => ({ ...owner, pid: 2 ** 22 + 1 })],
    ]),
  )('%s is taken over at once', async (_, change) => {
    const sandbox = await withTable()
    if (!hasIdentity) return
    writeLock(sandbox, 'lake', change(await liveLock()))
    expect(await sandbox.run(TABLE)).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.exists('lake/_lock')).toBe(false)
  })

  it.each(
    oneOf<[string, (owner: Owner) => object]>(2, [
      ['of before a reboot', owner => ({ ...owner, boot: '01234567-0123-0123-0123-0123456789ab' })],
      ['of a system that does not say more', ({ pid, host, id }) => ({ pid, host, id })],
    ]),
  )('%s, with the number and the start of a running process, is taken over after a minute', async (_, change) => {
    const sandbox = await withTable()
    const text = writeLock(sandbox, 'lake', change({ ...(await liveLock()), ...running() }))
    const result = await updateFast(sandbox)
    expect(result).toMatchObject({ lake: { written: 0, unchanged: 2 }, looks: 60 })
    expect(result.warnings).toEqual([
      expect.stringContaining(`the lock of process ${JSON.parse(text.split('\n')[0]).pid} of `),
    ])
    expect(sandbox.exists('lake/_lock')).toBe(false)
  })

  it('of a running process is refused at once with 5', async ({ skip }) => {
    if (!hasIdentity) skip(NO_IDENTITY)
    const sandbox = await withTable()
    const text = writeLock(sandbox, 'lake', { ...(await liveLock()), ...running() })
    const run = await sandbox.run(TABLE)
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toMatch(new RegExp(`^klines: The lake is being written by process ${process.pid}: `))
    expect(sandbox.text('lake/_lock')).toBe(text)
  })

  it('whose takeover was killed before it was complete is taken over, too', async ({ skip }) => {
    if (!hasIdentity) skip(NO_IDENTITY)
    const sandbox = await withTable()
    const dead = writeLock(sandbox, 'lake', await liveLock())
    const env = {
      NODE_OPTIONS: `--import=${FAILING_FS}`,
      KLINES_TEST_FAIL: JSON.stringify({ call: 'renameSync', path: '._lock.claim~', code: 'SIGKILL' }),
    }
    for (let kills = 1; kills <= 2; kills++) {
      expect(await sandbox.run(TABLE, env)).toMatchObject({ signal: 'SIGKILL' })
      expect(sandbox.text('lake/_lock')).toBe(dead)
      expect(sandbox.files('lake').filter(name => name.includes('claim'))).toHaveLength(kills)
    }
    expect(await sandbox.call(TABLE)).toMatchObject({ code: 0, stderr: '' })
    expect(sandbox.files('lake').filter(name => name.includes('~') || name === '_lock')).toEqual([])
  })
})

interface Owner {
  readonly pid: number
  readonly host: string
  readonly id: string
}

/** The number and the start of this process, which is running. */
function running() {
  const stat = hasIdentity ? readFileSync('/proc/self/stat', 'utf8') : ''
  return { pid: process.pid, started: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] }
}
