import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FileMemory } from '../../download/sources/cache-writer.js'
import { MirrorSource, type MirrorSourceOptions } from '../../download/sources/mirror-source.js'
import type { WindowFailure, WindowResult } from '../../download/sources/window-source.js'
import { decodeWindow } from '../../klines/batch/window-codec.js'
import { windowPath } from '../../klines/paths.js'
import type { WindowRef } from '../../klines/series.js'
import type { Mirror } from '../../mirror/mirror.js'
import { WindowVersions } from './window-versions.js'

/** Number of windows after which other requests get a turn: some 10 ms. */
const WINDOWS_A_TURN = 8

/** What a `ServedSource` is told. */
export interface ServedSourceOptions extends MirrorSourceOptions {
  /** Files that the mirror could not store, by path: each counts instead of the mirror's. */
  readonly memory?: FileMemory | undefined
}

/** The windows of the served mirror. One that has changed since its version was recorded cannot be read any more. */
export class ServedSource extends MirrorSource {
  readonly versions: WindowVersions
  protected readonly memory: FileMemory | undefined
  private reads = 0

  /** Throws `mirror_mismatch`. */
  constructor(mirror: Mirror, options: ServedSourceOptions) {
    super(mirror, options)
    this.memory = options.memory
    this.versions = new WindowVersions(mirror, options.memory)
  }

  override async borrowedWindow(window: WindowRef): Promise<WindowResult | WindowFailure> {
    if (++this.reads % WINDOWS_A_TURN === 0) await nextTurn()
    const file = this.memory?.get(windowPath(window))
    const result: WindowResult | WindowFailure = file
      ? { window, status: 'cached', batch: decodeWindow(file.bytes, window), size: file.size }
      : await super.borrowedWindow(window)
    // After it was read: a version that came before or while that happened shows.
    if (!this.versions.hasChanged(window)) return result
    return { window, status: 'failed', reason: 'changed in the mirror during the export' }
  }
}
