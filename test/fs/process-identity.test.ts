import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findState, isNear, type Processes, systemProcesses } from '../../src/fs/process-identity.js'
import { until } from '../support/deferred.js'
import { tempFolder } from '../support/temp-folder.js'

const SELF = { host: 'vm', pid: 7, boot: 'b', namespace: 'pid:[1]', started: '100' }
const STARTS = new Map<number, string | undefined>([
  [12, '500'],
  [13, undefined],
])
const processes: Processes = { self: SELF, startOf: pid => (STARTS.has(pid) ? STARTS.get(pid) : 'none') }

describe('the state of a process', () => {
  it.each([
    ['running', 'with its number and start', { pid: 12, started: '500' }],
    ['ended', 'whose number nothing has', { pid: 99, started: '500' }],
    ['ended', 'whose number another process has now', { pid: 12, started: '499' }],
    ['unknown', 'whose start cannot be read', { pid: 13, started: '500' }],
    ['unknown', 'whose start was not known', { pid: 12, started: undefined }],
    ['unknown', 'of an earlier start of the machine', { pid: 99, started: '500', boot: 'a' }],
    ['unknown', 'of another container', { pid: 99, started: '500', namespace: 'pid:[2]' }],
    ['unknown', 'without a boot id', { pid: 99, started: '500', boot: undefined }],
    ['unknown', 'without a namespace', { pid: 99, started: '500', namespace: undefined }],
  ])('is %s: one %s', (state, _, process) => {
    expect(findState({ ...SELF, ...process }, processes)).toBe(state)
  })

  it('is unknown where the system says nothing, although host name and number are the same', () => {
    const self = { host: 'vm', pid: 7 }
    expect(isNear(self, { self, startOf: () => 'none' })).toBe(false)
    expect(findState(self, { self, startOf: () => 'none' })).toBe('unknown')
  })
})

describe('the processes of this machine', () => {
  const { self, startOf } = systemProcesses()

  it('this one is running, and knows its number', () => {
    expect(self.pid).toBe(process.pid)
    if (existsSync('/proc/self/stat')) expect(findState(self, systemProcesses())).toBe('running')
  })

  it.skipIf(!existsSync('/proc/self/stat'))('have a boot id, a namespace and a start on Linux', () => {
    const { boot, namespace, started } = self
    expect(boot).toMatch(/^[0-9a-f-]{36}$/)
    expect(namespace).toMatch(/^pid:\[\d+\]$/)
    expect(started).toMatch(/^\d+$/)
    expect(startOf(process.ppid)).toMatch(/^\d+$/)
    expect(startOf(2 ** 22 + 1)).toBe('none')
  })

  it.skipIf(!existsSync('/proc/self/stat'))(
    'one with brackets and spaces in its name is read, and a zombie has ended',
    async () => {
      const name = join(tempFolder(), ') Z 1 (')
      // The shell becomes a program that never asks what became of its child, which ends after that.
      const waits = 'until [ "/proc/$$/exe" -ef "$0" ]; do :; done'
      const script = `cp "$(command -v sleep)" "$0" && { { ${waits}; } & echo $!; exec "$0" 600; }`
      const child = spawn('bash', ['-c', script, name], { stdio: ['ignore', 'pipe', 'ignore'] })
      try {
        const [bytes] = await once(child.stdout, 'data')
        const zombie = Number(String(bytes))
        await until(() => readFileSync(`/proc/${zombie}/stat`, 'utf8').includes(') Z '))
        expect(startOf(zombie)).toBe('none')
        // Its number is still taken.
        process.kill(zombie, 0)
        await until(() => readFileSync(`/proc/${child.pid}/stat`, 'utf8').includes('() Z 1 () S'))
        expect(startOf(child.pid as number)).toMatch(/^\d+$/)
      } finally {
        child.kill('SIGKILL')
      }
    },
  )
})
