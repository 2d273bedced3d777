import { existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Processes, ProcessIdentity } from '../../../src/fs/process-identity.js'
import type { Clock } from '../../../src/sources/clock.js'
import { LakeLock } from '../../../src/lake/lock/lake-lock.js'
import { RENEW_MS } from '../../../src/lake/lock/take-lock.js'
import { type Deferred, deferred, turns } from '../../support/deferred.js'
import { catchError } from '../../support/errors.js'
import { tempFolder } from '../../support/temp-folder.js'

const SELF = { host: 'vm', pid: 7, boot: 'boot-2', namespace: 'pid:[1]', started: '100' }
const MINUTE = 60
const COUNTER = '\n0000000000\n'

/** A machine whose clock moves when it is waited for. */
class Machine implements Processes, Clock {
  /** The numbers of its processes, and when they started. */
  readonly running = new Map<number, string | undefined>([[12, '500']])
  readonly warnings: string[] = []
  /** The looks at a lock that was waited for. */
  looks = 0
  /** Called before each look. */
  beforeLook = (_: number): void | Promise<void> => {}
  private renewal: Deferred = deferred()

  constructor(readonly self: ProcessIdentity = SELF) {
    if (self.started !== undefined) this.running.set(self.pid, self.started)
  }

  startOf(pid: number): string | undefined {
    return this.running.has(pid) ? this.running.get(pid) : 'none'
  }

  now = () => 0
  elapsed = () => 0

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (ms === RENEW_MS) {
      signal?.addEventListener('abort', () => this.renewal.resolve())
      await this.renewal.promise
      this.renewal = deferred()
      return
    }
    expect(ms).toBe(1000)
    await this.beforeLook(++this.looks)
  }

  /** Lets its process renew its lock once. */
  async renew(): Promise<void> {
    this.renewal.resolve()
    await turns(3)
  }

  acquire(root: string, signal?: AbortSignal): Promise<LakeLock> {
    const warn = (warning: string) => void this.warnings.push(warning)
    return LakeLock.acquire(root, { warn, signal }, { clock: this, processes: this })
  }
}

function lakeWith(text?: string) {
  const root = tempFolder()
  const path = join(root, '_lock')
  if (text !== undefined) writeFileSync(path, text)
  return { root, path, read: () => readFileSync(path, 'utf8'), names: () => readdirSync(root) }
}

function lockOf(process: Partial<ProcessIdentity>): string {
  return JSON.stringify({ ...SELF, ...process, id: 'an id' }) + COUNTER
}

const NONE = { boot: undefined, namespace: undefined, started: undefined }
/** A lock, and how many looks at it show that its owner has ended. */
const ENDED: [name: string, text: string, looks: number, waits?: string][] = [
  ['whose number nothing has', lockOf({ pid: 99 }), 0],
  ['whose number another process has now', lockOf({ pid: 12, started: '499' }), 0],
  ['whose number this process has now', lockOf({ started: '99' }), 0],
  [
    'of before the machine started anew, with numbers that are used again',
    lockOf({ pid: 12, started: '500', boot: 'boot-1' }),
    MINUTE,
    'process 12 of another machine or container that is called vm',
  ],
  [
    'of a container with the same host name, number and start',
    lockOf({ namespace: 'pid:[2]' }),
    MINUTE,
    'process 7 of another machine or container that is called vm',
  ],
  ['of another machine', lockOf({ host: 'web-1', boot: 'x' }), MINUTE, 'process 7 of web-1'],
  ['of a system that says nothing', lockOf({ pid: 12, ...NONE }), MINUTE, 'process 12 of vm'],
  ['of this process, made by another copy of the program', lockOf({}), MINUTE, 'process 7'],
  ['of an older version', 'vm~99~0011223344556677\n', MINUTE, 'process 99 of vm'],
  ['of an older version, with a number that is in use', 'vm~12~0011223344556677\n', MINUTE, 'process 12 of vm'],
  ['of a strange form', '{"id":"x","host":"a\\u001b[2Jb","pid":1}', MINUTE, 'process 1 of an unknown machine'],
  ['that is empty', '', MINUTE, 'an unknown process'],
  ['that is torn', lockOf({}).slice(0, 30), MINUTE, 'an unknown process'],
  ['that is something else', '[1, 2, 3]\n'.repeat(10_000), MINUTE, 'an unknown process'],
]

describe('a lock', () => {
  it('is made with the identity of the process and a counter, renewed, and removed', async () => {
    const { root, read, names } = lakeWith()
    const machine = new Machine()
    const lock = await machine.acquire(root)
    const [first, counter, rest] = read().split('\n')
    expect(JSON.parse(first)).toEqual({ ...SELF, id: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    expect([counter, rest]).toEqual(['0000000000', ''])
    for (const expected of ['0000000001', '0000000002']) {
      await machine.renew()
      expect(read()).toBe(`${first}\n${expected}\n`)
    }
    lock.check()
    lock.release()
    expect(names()).toEqual([])
    expect(machine.warnings).toEqual([])
  })

  it('is refused at once when its owner is running', async () => {
    const text = lockOf({ pid: 12, started: '500' })
    const { root, path, read, names } = lakeWith(text)
    const machine = new Machine()
    expect(await catchError(machine.acquire(root))).toMatchObject({
      code: 'lake_busy',
      message: `The lake is being written by process 12: ${path} is its lock.`,
      data: { lock: path },
    })
    expect([machine.looks, machine.warnings, read(), names()]).toEqual([0, [], text, ['_lock']])
  })

  it('of this program is refused at once, and free when it is released', async () => {
    const { root } = lakeWith()
    const machine = new Machine({ host: 'vm', pid: 7 })
    const lock = await machine.acquire(root)
    expect(await catchError(machine.acquire(root))).toMatchObject({ code: 'lake_busy' })
    expect(machine.looks).toBe(0)
    lock.release()
    ;(await machine.acquire(root)).release()
  })

  it('is not taken through a link', async () => {
    const { root, path } = lakeWith()
    writeFileSync(join(root, 'mine'), lockOf({ pid: 99 }))
    symlinkSync('mine', path)
    expect(await catchError(new Machine().acquire(root))).toMatchObject({ code: 'linked_path' })
    expect(readFileSync(join(root, 'mine'), 'utf8')).toBe(lockOf({ pid: 99 }))
  })
})

describe('the lock of an ended process is taken over', () => {
  it.each(ENDED)('%s', async (_, text, looks, waits) => {
    const { root, path, read, names } = lakeWith(text)
    const machine = new Machine()
    const lock = await machine.acquire(root)
    expect(JSON.parse(read().split('\n')[0])).toMatchObject(SELF)
    lock.check()
    expect(machine.looks).toBe(looks)
    const warning = `${path} is the lock of ${waits}. Waiting for up to a minute, to see whether it still writes the lake.`
    expect(machine.warnings).toEqual(waits === undefined ? [] : [warning])
    expect(names()).toEqual(['_lock'])
    lock.release()
    expect(names()).toEqual([])
  })

  it('as soon as it has ended, when that can be seen while waiting', async () => {
    const { root } = lakeWith(lockOf({ pid: 12 }))
    const machine = new Machine()
    machine.running.set(12, undefined)
    machine.beforeLook = look => void (look === 3 && machine.running.delete(12))
    ;(await machine.acquire(root)).release()
    expect(machine.looks).toBe(3)
  })

  it('by one of three that find it', async () => {
    const { root, read, names } = lakeWith(lockOf({ pid: 99 }))
    const machines = [21, 22, 23].map(pid => new Machine({ ...SELF, pid }))
    for (const machine of machines) for (const pid of [21, 22, 23]) machine.running.set(pid, SELF.started)
    const results = await Promise.allSettled(machines.map(machine => machine.acquire(root)))
    const locks = results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
    expect(locks).toHaveLength(1)
    locks[0].check()
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'lake_busy' })
    expect(JSON.parse(read().split('\n')[0]).pid).toBe(
      machines[results.findIndex(({ status }) => status === 'fulfilled')].self.pid,
    )
    expect(names()).toEqual(['_lock'])
    locks[0].release()
  })

  it('by none that looked at it before another one took it over', async () => {
    const { root, path, read, names } = lakeWith(lockOf({ pid: 12 }))
    const other = lockOf({ pid: 13, started: '600' }).replace('an id', 'another id')
    const machine = new Machine()
    machine.running.set(13, '600')
    // The owner is found to have ended, and the other one comes between this and the claim.
    machine.startOf = pid => {
      if (pid !== 12) return machine.running.get(pid)
      writeFileSync(join(root, 'new'), other)
      renameSync(join(root, 'new'), path)
      return 'none'
    }
    expect(await catchError(machine.acquire(root))).toMatchObject({
      code: 'lake_busy',
      message: expect.stringContaining('process 13'),
    })
    expect([read(), names()]).toEqual([other, ['_lock']])
  })

  it('where hard links are not possible, too: an unfinished copy is waited for', async () => {
    const { root, path } = lakeWith('')
    const machine = new Machine()
    const text = lockOf({ pid: 12, started: '500' })
    machine.beforeLook = look => void (look === 2 && writeFileSync(path, text))
    expect(await catchError(machine.acquire(root))).toMatchObject({ code: 'lake_busy' })
    expect(machine.looks).toBe(2)
  })
})

describe('while it waits for a process that it cannot see, a run', () => {
  it('ends when that renews its lock', async () => {
    const { root, read, names } = lakeWith()
    const owner = new Machine({ ...SELF, namespace: 'pid:[2]' })
    const lock = await owner.acquire(root)
    const machine = new Machine()
    machine.beforeLook = look => (look === MINUTE ? owner.renew() : undefined)
    // The other program, as it does not know the locks of this one.
    const text = read().replace(/"id":"[^"]*"/, '"id":"12345678-1234-1234-1234-123456789012"')
    writeFileSync(join(root, '_lock'), text)
    expect(await catchError(machine.acquire(root))).toMatchObject({
      code: 'lake_busy',
      message: expect.stringContaining('by process 7 of another machine or container that is called vm: '),
    })
    expect([machine.looks, machine.warnings.length]).toEqual([MINUTE, 1])
    expect(names()).toEqual(['_lock'])
    expect(read()).toBe(text.replace('0000000000', '0000000001'))
    lock.release()
    expect(existsSync(join(root, '_lock'))).toBe(true)
  })

  it('goes on when the lock is gone', async () => {
    const { root, path } = lakeWith(lockOf({ boot: 'boot-1' }))
    const machine = new Machine()
    machine.beforeLook = look => void (look === 5 && rmSync(path))
    ;(await machine.acquire(root)).check()
    expect(machine.looks).toBe(5)
  })

  it('waits for another minute when the lock is that of another process then', async () => {
    const { root, path } = lakeWith(lockOf({ boot: 'boot-1' }))
    const machine = new Machine()
    machine.beforeLook = look => void (look === 59 && writeFileSync(path, 'web-2~8~0011223344556677\n'))
    ;(await machine.acquire(root)).check()
    expect(machine.looks).toBe(59 + MINUTE)
    expect(machine.warnings).toHaveLength(2)
  })

  it('can be interrupted', async () => {
    const text = lockOf({ boot: 'boot-1' })
    const { root, read, names } = lakeWith(text)
    const controller = new AbortController()
    const machine = new Machine()
    machine.beforeLook = look => {
      if (look !== 4) return
      controller.abort(new Error('interrupted'))
      controller.signal.throwIfAborted()
    }
    await expect(machine.acquire(root, controller.signal)).rejects.toThrow('interrupted')
    expect([read(), names()]).toEqual([text, ['_lock']])
  })
})

describe('an owner that lost its lock', () => {
  it('finds out, does not renew that of the new owner, and does not remove it', async () => {
    const { root, path, read, names } = lakeWith()
    const owner = new Machine()
    const lock = await owner.acquire(root)
    // The new owner is a container in which nothing of this program is known.
    writeFileSync(join(root, 'new'), lockOf({ host: 'web-1', namespace: 'pid:[2]' }))
    renameSync(join(root, 'new'), path)
    expect(await catchError(() => lock.check())).toMatchObject({
      code: 'lake_busy',
      message: `This run has lost its lock on the lake: ${path} is that of process 7 of web-1 now. A run that stands still for a minute loses it.`,
    })
    await owner.renew()
    lock.release()
    expect([read(), names()]).toEqual([lockOf({ host: 'web-1', namespace: 'pid:[2]' }), ['_lock']])
  })

  it('finds out when the lock is gone', async () => {
    const { root, path } = lakeWith()
    const lock = await new Machine().acquire(root)
    rmSync(path)
    expect(await catchError(() => lock.check())).toMatchObject({
      code: 'lake_busy',
      message: expect.stringContaining(`${path} is gone`),
    })
    lock.release()
  })
})

it('claims of ended processes go with the next owner', async () => {
  const { root, names } = lakeWith()
  writeFileSync(join(root, '._lock.claim~0~0011223344556677.new'), lockOf({ pid: 99 }))
  writeFileSync(join(root, '._lock.claim.new'), 'mine')
  ;(await new Machine().acquire(root)).release()
  expect(names()).toEqual(['._lock.claim.new'])
})
