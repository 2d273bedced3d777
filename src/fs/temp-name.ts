import { hostname } from 'node:os'
import { errnoCode } from './errno.js'

/** The name of this machine: at most 64 characters, as on Linux (HOST_NAME_MAX), so that a file name with it is short enough. */
export const HOST = hostname().slice(0, 64)

/** What `tempName` returns. */
const TEMP_NAME = /^[^~/]+~\d+~[0-9a-f]{16}$/

/** Creates a temp file name that is unique over processes and machines: host, process id, random. At most 90 bytes. */
export function tempName(): string {
  // It may be guessable, as files are created exclusively; node:crypto would take 7 ms to load.
  return `${HOST}~${process.pid}~${randomWord()}${randomWord()}`
}

/** 32 random bits in hex. */
function randomWord(): string {
  return Math.floor(Math.random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
}

/** Whether a name is of the form that `tempName` returns: what has another one is not removed, wherever it is. */
export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name)
}

/** Whether a temp file was created on this machine. */
export function isFromThisHost(name: string): boolean {
  return name.split('~')[0] === HOST
}

/** Whether a temp file was created on this machine by a process that has ended. */
export function isAbandoned(name: string): boolean {
  const pid = Number(name.split('~')[1])
  return isFromThisHost(name) && pid !== process.pid && !isAlive(pid)
}

/** Whether a process of this machine, or of this container, has a number. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoCode(error) === 'EPERM'
  }
}
