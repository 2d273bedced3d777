import type { FileMemory } from '../../download/sources/cache-writer.js'
import { windowPath } from '../../klines/paths.js'
import { type WindowRef, windowName } from '../../klines/series.js'
import type { Mirror } from '../../mirror/mirror.js'

/** The versions of windows: whether what is sent is what was checked. */
export class WindowVersions {
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
