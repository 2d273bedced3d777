import { readFileSync, readlinkSync } from 'node:fs'
import { HOST, isAlive } from './temp-name.js'

/**
 * What tells a process from every other one. A host name and a process number do not: containers and copies of a machine have both
 * in common, and a number is used again. What the system does not say is left out.
 */
export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
  /** A number of this start of the machine. */
  readonly boot?: string | undefined
  /** The PID namespace: what its process numbers mean. A container has one of its own. */
  readonly namespace?: string | undefined
  /** When the process started, in ticks since the machine did. */
  readonly started?: string | undefined
}

/** What became of a process; `unknown` when it cannot be seen from here. */
export type ProcessState = 'running' | 'ended' | 'unknown'

/** The processes that this one can see. */
export interface Processes {
  readonly self: ProcessIdentity
  /** When the process that has a number now started; `none` when no process has it, undefined when the system does not say it. */
  startOf(pid: number): string | undefined
}

/** Whether a process has the same numbers as this one: then a number that is not used is that of an ended process. */
export function isNear({ boot, namespace }: ProcessIdentity, { self }: Processes): boolean {
  return boot !== undefined && boot === self.boot && namespace !== undefined && namespace === self.namespace
}

/** What became of a process, from its identity. */
export function findState(process: ProcessIdentity, processes: Processes): ProcessState {
  if (!isNear(process, processes)) return 'unknown'
  const started = processes.startOf(process.pid)
  if (started === 'none') return 'ended'
  if (started === undefined || process.started === undefined) return 'unknown'
  return started === process.started ? 'running' : 'ended'
}

/** The processes of this machine. Linux alone says in `/proc` what tells them apart. */
export function systemProcesses(): Processes {
  const self = {
    host: HOST,
    pid: process.pid,
    boot: tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: tryRead(() => readlinkSync('/proc/self/ns/pid')),
    started: readStart('self'),
  }
  return { self, startOf }
}

function startOf(pid: number): string | undefined {
  if (!isAlive(pid)) return 'none'
  // A container may see the /proc of its host, in which its numbers are those of other processes.
  const isOwnTable = tryRead(() => readlinkSync('/proc/self')) === String(process.pid)
  return isOwnTable ? readStart(String(pid)) : undefined
}

/** The start time in `/proc/PID/stat` (proc(5)): field 22. A zombie has ended, although its number is still taken. */
function readStart(pid: string): string | undefined {
  const stat = tryRead(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // The second field, the name of the program, may have spaces and brackets in it.
  const [state, ...rest] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return state === 'Z' || state === 'X' ? 'none' : rest[18]
}

function tryRead(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
