import { isKlinesError } from '../klines/errors.js'
import type { Mirror } from '../mirror/mirror.js'
import type { Warn } from './window-source.js'

/** How a `Keeper` treats what it is given. */
export interface CacheWriterOptions {
  /** Store nothing. */
  readonly readOnly: boolean
  /** When the mirror cannot be written: remember files in memory (an export is coming) instead of throwing. */
  readonly memoryFallback: boolean
  readonly warn: Warn
}

/** Puts what a run brings into the mirror, and knows what the run has settled: no file is asked for twice in it. */
export class CacheWriter {
  /** Files settled in this run, by path; with bytes where the mirror could not take them. */
  private readonly done = new Map<string, Uint8Array | undefined>()
  private unwritable = false

  constructor(
    private readonly mirror: Mirror,
    private readonly options: CacheWriterOptions,
  ) {}

  /** Makes the mirror ready for a run. Throws `mirror_mismatch`, and `mirror_unusable` unless it is to be made up for. */
  open(baseUrl: string, now: number): void {
    if (this.options.readOnly) this.mirror.checkBase(baseUrl)
    else this.write(() => this.adopt(baseUrl, now))
  }

  private adopt(baseUrl: string, now: number): void {
    const bare = this.mirror.exists && this.mirror.readMeta() === undefined
    this.mirror.prepare(baseUrl, now)
    if (bare)
      this.options.warn(
        `${this.mirror.root} did not say where its candles come from; from now on it is a mirror of ${baseUrl}.`,
      )
  }

  /** Whether a file was had in this run. */
  isDone(path: string): boolean {
    return this.done.has(path)
  }

  /** The bytes of a settled file that is in memory alone. */
  bytesInMemory(path: string): Uint8Array | undefined {
    return this.done.get(path)
  }

  /** What the mirror holds at `path` is good for this run. */
  markDone(path: string): void {
    this.done.set(path, undefined)
  }

  /** Stores a file, or remembers it where the mirror cannot take it. */
  store(path: string, bytes: Uint8Array, mtimeMs: number): void {
    if (this.options.readOnly) return
    const kept = this.write(() => this.mirror.writeBytes(path, bytes, mtimeMs))
    this.done.set(path, kept ? undefined : bytes)
  }

  /** Whether a write worked; throws when it did not and nothing is to be remembered. Warns once, then tries no more. */
  private write(action: () => void): boolean {
    if (this.unwritable) return false
    try {
      action()
      return true
    } catch (error) {
      if (!isKlinesError(error, 'mirror_unusable') || !this.options.memoryFallback) throw error
      this.unwritable = true
      this.options.warn(`${error.message} Going on from memory: what is fetched now is not kept for next time.`)
      return false
    }
  }
}
