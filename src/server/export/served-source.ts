import { setImmediate as nextTurn } from 'node:timers/promises'
import { noMinutes } from '../../download/errors.js'
import type { FileMemory } from '../../download/sources/cache-writer.js'
import { MirrorSource } from '../../download/sources/mirror-source.js'
import type { MirrorContentsOptions } from '../../download/sources/mirror-source-contents.js'
import type {
  SourceContents,
  SourceCosts,
  SourceInfo,
  Warn,
  WindowFailure,
  WindowResult,
  WindowSource,
} from '../../download/sources/window-source.js'
import { decodeWindow } from '../../klines/batch/window-codec.js'
import { windowPath } from '../../klines/paths.js'
import { type Series, type WindowRef, windowName } from '../../klines/series.js'
import { unknownSymbols } from '../../klines/symbols.js'
import type { Mirror } from '../../mirror/mirror.js'
import { HttpError } from '../http/error.js'
import { listSymbols, type Tree } from '../tree/tree.js'
import type { Upstream } from '../tree/upstream.js'
import { UpstreamContents, UpstreamFetches } from './upstream-fetches.js'

/** The versions of windows: whether what is sent is what was checked. */
class WindowVersions {
  private readonly recorded = new Map<string, string>()

  /** `memory`: files that the mirror could not store. */
  constructor(
    private readonly mirror: Mirror,
    private readonly memory: FileMemory | undefined,
  ) {}

  /** Records the present versions of windows, and returns them. */
  record(windows: readonly WindowRef[]): string[] {
    return windows.map(window => {
      const version = this.find(window)
      this.recorded.set(windowName(window), version)
      return version
    })
  }

  /** Whether a window has another version than the recorded one. */
  hasChanged(window: WindowRef): boolean {
    const recorded = this.recorded.get(windowName(window))
    return recorded !== undefined && recorded !== this.find(window)
  }

  private find(window: WindowRef): string {
    const path = windowPath(window)
    const file = this.memory?.get(path) ?? this.mirror.files.version(path)
    return file ? `${file.ino} ${file.size} ${file.mtimeMs} ${file.ctimeMs}` : 'missing'
  }
}

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

/**
 * The source of a series' windows: the mirror, with the service behind it if there is one. Throws `unknown_symbol`, and
 * `HttpError` for 1m, 3m or 5m of a server without them, and when only the service knows the symbol and does not answer.
 */
export async function openServedSource(
  tree: Tree,
  mirror: Mirror,
  { symbol, interval }: Series,
  warn: Warn,
): Promise<ServedSource> {
  const { upstream } = tree
  if (tree.lacksInterval(interval)) throw new HttpError(404, noMinutes(interval, 'This server').message)
  if (!mirror.contents.hasSymbol(symbol) && !(await upstream?.hasSymbol(symbol))) {
    throw unknownSymbols([symbol], listSymbols(mirror), 'this server')
  }
  if (!upstream) return new ServedSource(mirror, tree, undefined, { now: tree.now(), warn })
  const { now, warning } = await findPresent(tree, upstream)
  return new ServedSource(mirror, tree, new UpstreamFetches(mirror, tree, warning), { now, warn })
}

/** The present by the clock that decides which windows have started, ms UTC: this machine's when the exchange does not answer. */
async function findPresent({ mirror, now }: Tree, upstream: Upstream): Promise<{ now: number; warning?: HttpError }> {
  if (!mirror.rules.rendersAnswers) return { now: now() }
  try {
    return { now: await upstream.currentTime() }
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    return { now: now(), warning: error }
  }
}
