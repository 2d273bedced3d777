import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../fs/make-folder.js'
import { findUserFolder } from '../fs/user-folder.js'
import { DAY_MS } from '../klines/intervals.js'

/** The exchange bans for three days at most. What says more was written by a clock that was wrong. */
const LONGEST_MS = 3 * DAY_MS

/** The file that says until when the host of a URL bans this address: no run asks it before. Undefined without a cache folder. */
export function findBanFile(url: string): string | undefined {
  const folder = findUserFolder('cache')
  return folder && join(folder, '.bans', encodeURIComponent(new URL(url).origin))
}

/** When the ban in a file ends, ms UTC; undefined without one. */
export function readBan(file: string, now: number): number | undefined {
  try {
    const untilTime = Date.parse(readFileSync(file, 'utf8'))
    return untilTime > now && untilTime <= now + LONGEST_MS ? untilTime : undefined
  } catch {
    return undefined
  }
}

/** Tells other runs of a ban. Where that fails, the host tells them. */
export function writeBan(file: string, untilTime: number): void {
  try {
    makeFolder(dirname(file))
    writeFileSync(file, new Date(untilTime).toISOString())
  } catch {}
}
