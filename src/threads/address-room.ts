import { readFileSync } from 'node:fs'

/** Addresses that a worker takes, bytes: 0.7 GB for its heap, code and stack, and 10 GB for each memory of compiled code. */
const WORKER_BYTES = 32e9
/** The same where Node reserves no more for compiled code than it uses. */
const SMALL_WORKER_BYTES = 2e9

/** What Linux says about a process. */
export interface AddressFiles {
  /** Text of `/proc/self/limits`. */
  readonly limits: string
  /** Text of `/proc/self/status`. */
  readonly status: string
}

/**
 * How many workers find room under a limit on addresses (`ulimit -v`); infinite without one. Where a new thread finds none, V8 ends
 * the whole process at once, with a signal and without an error.
 */
export function countRoom(files = readFiles(), options = nodeOptions()): number {
  const [, limit] = /^Max address space\s+(\d+)/m.exec(files?.limits ?? '') ?? []
  const [, used] = /^VmSize:\s+(\d+) kB/m.exec(files?.status ?? '') ?? []
  if (limit === undefined || used === undefined) return Number.POSITIVE_INFINITY
  const bytes = options.includes('--disable-wasm-trap-handler') ? SMALL_WORKER_BYTES : WORKER_BYTES
  return Math.max(0, Math.floor((Number(limit) - 1024 * Number(used)) / bytes))
}

/** Undefined where the system has no such files. */
function readFiles(): AddressFiles | undefined {
  try {
    return { limits: readFileSync('/proc/self/limits', 'utf8'), status: readFileSync('/proc/self/status', 'utf8') }
  } catch {
    return undefined
  }
}

function nodeOptions(): string {
  return [...process.execArgv, process.env.NODE_OPTIONS].join(' ')
}
