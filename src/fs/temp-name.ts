import { hostname } from 'node:os'

/** At most as long as Linux allows (HOST_NAME_MAX), so that a name with it fits into a folder's entry anywhere. */
const HOST = hostname().slice(0, 64)

/** A name for a temp file, unique over processes and machines: host, process, random. At most 90 bytes. */
export function tempName(): string {
  // Nobody has to be kept from guessing it, files are made exclusively; and node:crypto takes 7 ms to load.
  return `${HOST}~${process.pid}~${randomWord()}${randomWord()}`
}

/** 32 random bits, in hex. */
function randomWord(): string {
  return Math.floor(Math.random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
}

/** Whether a temp file was made on this machine, whose processes can be asked for. */
export function isOfThisHost(name: string): boolean {
  return name.split('~')[0] === HOST
}

/** Whether a temp file is one that no process of this machine can finish any more. False for another machine's. */
export function isAbandoned(name: string): boolean {
  const pid = Number(name.split('~')[1])
  return isOfThisHost(name) && pid !== process.pid && !isAlive(pid)
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
