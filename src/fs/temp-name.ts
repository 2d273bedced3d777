import { lstatSync } from 'node:fs'
import { HOUR_MS } from '../candles/intervals.js'

/** What `tempName` returns. */
const TEMP_NAME = /^\d+~[0-9a-f]{16}$/

/** Creates a temp file name that is unique over processes: process id, random. At most 27 bytes. */
export function tempName(): string {
  // It may be guessable, as files are created exclusively; node:crypto would take 7 ms to load.
  return `${process.pid}~${randomWord()}${randomWord()}`
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

/** Whether a temp file was last written more than an hour ago: then its run has ended. */
export function isLeftover(path: string, now = Date.now()): boolean {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return stats?.isFile() === true && now - stats.mtimeMs > HOUR_MS
  } catch {
    // What nobody can look at stays: a run does not fail for the rests of another one.
    return false
  }
}
