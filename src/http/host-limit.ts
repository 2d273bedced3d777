import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../fs/make-folder.js'
import { tempName } from '../fs/temp-name.js'
import { findUserFolder } from '../fs/user-folder.js'
import { HOUR_MS } from '../klines/intervals.js'
import { parseObject } from '../klines/json.js'

/** The longest time that a limit is remembered, ms: the exchange bans for three days at most. */
const LONGEST_MS = { 418: 72 * HOUR_MS, 429: HOUR_MS } as const

/** A larger file is none of ours. */
const MAX_BYTES = 1024

/** A status with which a host limits an address: 418 is a ban, 429 says that there were too many requests. */
export type LimitStatus = keyof typeof LONGEST_MS

/** Until when a host demands that no request is sent. */
export interface HostLimit {
  readonly status: LimitStatus
  /** Ms UTC. */
  readonly untilTime: number
}

/** Whether a host limits an address with a status. */
export function isLimitStatus(status: number): status is LimitStatus {
  return Object.hasOwn(LONGEST_MS, status)
}

/**
 * The limit of one host, in a file that all processes of this user on this machine read before each request. Its content is not
 * trusted. Where it cannot be written, this process alone knows of a limit.
 */
export class HostLimitFile {
  /** The version of the file that was read last, and what it says. */
  private last: { readonly version: string; readonly limit: HostLimit | undefined } | undefined

  /** `now`: this machine's clock, ms UTC. */
  constructor(
    readonly path: string,
    private readonly now: () => number,
  ) {}

  /** The file of the host and port of a URL, in the user's cache folder; undefined for a user without one. */
  static find(url: string, now: () => number): HostLimitFile | undefined {
    const folder = findUserFolder('cache')
    // No mirror has a name that begins with a dot, and none of these has a slash.
    if (folder === undefined) return undefined
    return new HostLimitFile(join(folder, '.limits', `${encodeURIComponent(new URL(url).origin)}.json`), now)
  }

  /** The limit that is in force; undefined without one. */
  find(): HostLimit | undefined {
    const limit = this.read()
    if (!limit) return undefined
    const leftMs = limit.untilTime - this.now()
    if (leftMs <= 0) return undefined
    const longestMs = LONGEST_MS[limit.status]
    if (leftMs <= longestMs) return limit
    // No host was heard with it: the clock was set back, or somebody wrote it. What could be cut anew in each run is ignored.
    return this.write({ ...limit, untilTime: this.now() + longestMs })
  }

  /** Remembers a limit for its longest time at most, unless a longer one is in force. */
  remember({ status, untilTime }: HostLimit): void {
    const limit = { status, untilTime: Math.min(untilTime, this.now() + LONGEST_MS[status]) }
    if ((this.find()?.untilTime ?? this.now()) < limit.untilTime) this.write(limit)
  }

  private read(): HostLimit | undefined {
    const version = this.version()
    if (version === undefined) return undefined
    if (this.last?.version !== version) this.last = { version, limit: parseLimit(this.readText()) }
    return this.last.limit
  }

  /** Tells versions of the file apart; undefined when there is none, or not in a folder of its own. */
  private version(): string | undefined {
    try {
      const [folder, file] = [dirname(this.path), this.path].map(path => lstatSync(path, { throwIfNoEntry: false }))
      if (!folder?.isDirectory() || !file?.isFile()) return undefined
      return [file.ino, file.size, file.mtimeMs, file.ctimeMs].join()
    } catch {
      return undefined
    }
  }

  private readText(): string {
    try {
      const file = openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
      try {
        const stats = fstatSync(file)
        return stats.isFile() && stats.size <= MAX_BYTES ? readFileSync(file, 'utf8') : ''
      } finally {
        closeSync(file)
      }
    } catch {
      return ''
    }
  }

  /** Returns the limit when it was written. */
  private write(limit: HostLimit): HostLimit | undefined {
    const folder = dirname(this.path)
    const temp = join(folder, tempName())
    const text = JSON.stringify({ status: limit.status, until: new Date(limit.untilTime).toISOString() })
    try {
      makeFolder(folder)
      if (!lstatSync(folder).isDirectory()) return undefined
      try {
        writeFileSync(temp, `${text}\n`, { flag: 'wx' })
        renameSync(temp, this.path)
      } catch (error) {
        rmSync(temp, { force: true })
        throw error
      }
      return limit
    } catch {
      return undefined
    }
  }
}

/** What a file says; undefined for anything that is not of its form. */
function parseLimit(text: string): HostLimit | undefined {
  const { status, until } = parseObject(text) ?? {}
  const untilTime = typeof until === 'string' ? Date.parse(until) : Number.NaN
  const isLimit = typeof status === 'number' && isLimitStatus(status) && !Number.isNaN(untilTime)
  return isLimit ? { status, untilTime } : undefined
}
