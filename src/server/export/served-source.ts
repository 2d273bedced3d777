import { setImmediate as nextTurn } from 'node:timers/promises'
import { MirrorSource } from '../../download/sources/mirror-source.js'
import type { MirrorContentsOptions } from '../../download/sources/mirror-source-contents.js'
import type {
  SourceContents,
  SourceCosts,
  SourceInfo,
  WindowFailure,
  WindowResult,
  WindowSource,
} from '../../download/sources/window-source.js'
import { decodeWindow } from '../../klines/batch/window-codec.js'
import { windowPath } from '../../klines/paths.js'
import type { WindowRef } from '../../klines/series.js'
import type { Mirror } from '../../mirror/mirror.js'
import type { Tree } from '../tree/tree.js'
import { UpstreamContents } from './upstream-contents.js'
import type { UpstreamFetches } from './upstream-fetches.js'
import { WindowVersions } from './window-versions.js'

/** Number of windows after which other requests get a turn: some 10 ms. */
const WINDOWS_A_TURN = 8

/** The windows of the served mirror. One that has changed since its version was recorded cannot be read any more. */
export class ServedSource implements WindowSource {
  readonly info: SourceInfo
  readonly contents: SourceContents
  readonly costs: SourceCosts
  readonly versions: WindowVersions
  private readonly cached: MirrorSource
  private reads = 0

  /** `fetches`: what the service behind the server sends for this export, if there is one. Throws `mirror_mismatch`. */
  constructor(
    mirror: Mirror,
    private readonly tree: Tree,
    readonly fetches: UpstreamFetches | undefined,
    options: MirrorContentsOptions,
  ) {
    this.cached = new MirrorSource(mirror, options)
    const { info, costs, contents } = this.cached
    // A new mirror has no source before its first file.
    this.info = {
      ...info,
      get baseUrl() {
        return info.baseUrl ?? mirror.baseUrl
      },
    }
    this.costs = costs
    this.versions = new WindowVersions(mirror, tree.memory)
    const read = (window: WindowRef) => this.cachedWindow(window)
    this.contents = fetches ? new UpstreamContents(mirror, tree, fetches, options.now, read) : contents
  }

  window(window: WindowRef): Promise<WindowResult | WindowFailure> {
    return this.cached.window(window)
  }

  async cachedWindow(window: WindowRef): Promise<WindowResult | WindowFailure> {
    if (++this.reads % WINDOWS_A_TURN === 0) await nextTurn()
    // What the mirror could not store counts instead of its file.
    const file = this.tree.memory?.get(windowPath(window))
    const result: WindowResult | WindowFailure = file
      ? { window, status: 'cached', batch: decodeWindow(file.bytes, window), size: file.size }
      : await this.cached.cachedWindow(window)
    // After it was read: a version that came before or while that happened shows.
    if (!this.versions.hasChanged(window)) return result
    return { window, status: 'failed', reason: 'changed in the mirror during the export' }
  }

  statusWithoutReading(): 'cached' {
    return this.cached.statusWithoutReading()
  }

  hasAllCandles(window: WindowRef): boolean {
    return this.cached.hasAllCandles(window)
  }

  async close(): Promise<void> {}
}
