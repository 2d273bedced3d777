import type { FileMemory } from '../../download/sources/cache-writer.js'
import type { KnownTotals } from '../../download/sources/window-source.js'
import { hasSameContent, settledVersion, versionText } from '../../export/file-content.js'
import { sha256 } from '../../fs/checksum.js'
import { windowPath } from '../../klines/paths.js'
import { type WindowRef, windowName } from '../../klines/series.js'
import type { Mirror } from '../../mirror/mirror.js'
import { EMPTY_WINDOW_BYTES } from '../../mirror/mirror-contents.js'
import { type LakeManifest, unpackTotals, type WindowContent } from '../manifest.js'

/** What the manifest says about a window whose file has not changed since, and the modification time of that (ms). */
interface UnchangedWindow {
  readonly known: WindowContent
  readonly mtimeMs: number
}

/** The contents of cached windows. */
export class WindowFiles {
  private readonly seen = new Map<string, WindowContent>()
  /** Those of `seen` whose files were not read. */
  private readonly unchanged = new Map<string, UnchangedWindow>()
  /** What the manifest says, by the names of windows. */
  private readonly known: ReadonlyMap<string, WindowContent>

  /** `memory`: files that the mirror could not store. */
  constructor(
    private readonly mirror: Mirror,
    private readonly memory: FileMemory,
    manifest: LakeManifest | undefined,
  ) {
    const entries = manifest?.series.flatMap(({ symbol, source, windows }) =>
      windows.map((window): [string, WindowContent] => [`${symbol} ${source} ${window.startDate}`, window]),
    )
    this.known = new Map(entries)
  }

  /**
   * The content of a window's file; one of a known version is not read. Undefined for a window that the manifest lacks: whoever
   * reads its rows finds it out. Throws `mirror_unusable`.
   */
  content(window: WindowRef): WindowContent | undefined {
    const name = windowName(window)
    if (!this.known.has(name) && !this.memory.get(windowPath(window))) return undefined
    const seen = this.seen.get(name)
    if (seen) return seen
    const unchanged = this.findKnown(window)
    if (unchanged) this.unchanged.set(name, unchanged)
    const content = unchanged?.known ?? this.read(window)
    this.seen.set(name, content)
    return content
  }

  /** The candles of a window's file, if it is the version that was counted. Throws `mirror_unusable`. */
  counted(window: WindowRef): KnownTotals | undefined {
    const { known, mtimeMs } = this.unchanged.get(windowName(window)) ?? this.findKnown(window) ?? {}
    if (known?.totals === undefined || mtimeMs === undefined) return undefined
    return { size: known.size, mtimeMs, sha256: known.sha256, totals: unpackTotals(known.totals) }
  }

  /** Whether a cached window has candles, by the size of its file. */
  hasCandles(window: WindowRef): boolean {
    const size = this.memory.get(windowPath(window))?.size ?? this.mirror.files.size(windowPath(window))
    return size > EMPTY_WINDOW_BYTES
  }

  /** Whether a window is final in such a way that it has all its candles. */
  hasAllCandles(window: WindowRef): boolean {
    return this.mirror.windows.hasAllCandles(window, this.memory.get(windowPath(window)), this.counted(window)?.totals)
  }

  private findKnown(window: WindowRef): UnchangedWindow | undefined {
    const known = this.known.get(windowName(window))
    const path = windowPath(window)
    if (known?.version === undefined || this.memory.get(path)) return undefined
    const version = this.mirror.files.version(path)
    return version && versionText(version) === known.version ? { known, mtimeMs: version.mtimeMs } : undefined
  }

  private read(window: WindowRef): WindowContent {
    const { startDate } = window
    const path = windowPath(window)
    const inMemory = this.memory.get(path)
    const file = inMemory ?? this.mirror.files.read(path)
    if (file.state !== 'file') return { startDate, size: 0, sha256: sha256(new Uint8Array()) }
    const content = { startDate, size: file.size, sha256: sha256(file.bytes) }
    const known = this.known.get(windowName(window))
    return {
      ...content,
      version: inMemory ? undefined : settledVersion(file),
      totals: hasSameContent(known, content) ? known?.totals : undefined,
    }
  }
}
