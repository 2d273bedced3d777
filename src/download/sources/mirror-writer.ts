import type { Fetched } from '../../http/fetched.js'
import type { WindowService } from '../../http/window-service.js'
import type { RecordedChange } from '../../mirror/changes.js'
import type { Mirror } from '../../mirror/mirror.js'
import { CacheWriter, type CacheWriterOptions } from './cache-writer.js'
import { checkOrigin } from './check-origin.js'
import { ServiceClock } from './service-clock.js'
import { WindowRecorder } from './window-recorder.js'

/** How the files of a service are stored. */
export interface MirrorWriterOptions extends CacheWriterOptions {
  /** The present, ms UTC. */
  readonly now: () => number
  readonly signal: AbortSignal
}

/** Stores the files of a service in its mirror, with what the service says about them. */
export class MirrorWriter {
  readonly cache: CacheWriter
  readonly recorder: WindowRecorder
  readonly clock: ServiceClock
  private readonly baseUrl: string
  private preparing: Promise<void> | undefined

  /** Throws `mirror_mismatch` when the mirror belongs to another service. */
  constructor(
    private readonly service: WindowService,
    private readonly mirror: Mirror,
    /** Whether the service alone says what the present is. */
    hasOwnClock: boolean,
    private readonly options: MirrorWriterOptions,
  ) {
    this.baseUrl = service.fetcher.baseUrl
    this.clock = new ServiceClock(options.now, options.warn, hasOwnClock ? Number.NEGATIVE_INFINITY : options.now())
    this.cache = new CacheWriter(mirror, options)
    this.recorder = new WindowRecorder(mirror, this.cache, options.now)
    mirror.upkeep.checkBase(this.baseUrl)
  }

  /**
   * Checks before the first request that the mirror can be written, and removes leftover temp files. A mirror that
   * does not say its source is compared with this one first. Throws `mirror_unusable`, `mirror_mismatch` and `unreachable`.
   */
  prepare(): Promise<void> {
    this.preparing ??= this.openMirror().catch(error => {
      this.preparing = undefined
      throw error
    })
    return this.preparing
  }

  private async openMirror(): Promise<void> {
    const { mirror, options } = this
    if (!options.readOnly && mirror.upkeep.readMeta(options.warn) === undefined && mirror.files.exists) {
      await checkOrigin(mirror, this.service, options.signal)
    }
    this.cache.open(this.baseUrl, options.now())
  }

  /** Stores a file. `changes`: what it changes of cached candles. */
  store(path: string, file: Fetched<unknown>, changes: readonly RecordedChange[] = []): void {
    this.clock.observe(file.servedMs, file.skewMs)
    this.cache.store(path, file.bytes, file.mtimeMs, changes)
  }
}
