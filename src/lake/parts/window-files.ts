import type { FileMemory } from '../../download/sources/cache-writer.js'
import { windowPath } from '../../klines/paths.js'
import { type WindowRef, windowName } from '../../klines/series.js'
import type { Mirror } from '../../mirror/mirror.js'
import { type FileContent, sha256, versionText } from './file-version.js'

/** A window that a part was made of. One without a file, of a complete mirror, has the size 0. */
export interface WindowContent extends FileContent {
  readonly startDate: string
}

/** The ticks of file systems are shorter: an older file that is written again gets another time. */
const TICK_MS = 2_000

/** The contents of cached windows. */
export class WindowFiles {
  private readonly seen = new Map<string, WindowContent>()

  /** `memory`: files that the mirror could not store. */
  constructor(
    private readonly mirror: Mirror,
    private readonly memory: FileMemory,
  ) {}

  /** The content of a window's file; a file of a `known` version is not read. Throws `mirror_unusable`. */
  content(window: WindowRef, known: WindowContent | undefined): WindowContent {
    const name = windowName(window)
    const content = this.seen.get(name) ?? this.find(window, known)
    this.seen.set(name, content)
    return content
  }

  private find({ startDate, ...series }: WindowRef, known: WindowContent | undefined): WindowContent {
    const path = windowPath({ startDate, ...series })
    const inMemory = this.memory.get(path)
    const version = inMemory || known?.version === undefined ? undefined : this.mirror.version(path)
    if (known && version && versionText(version) === known.version) return known
    const file = inMemory ?? this.mirror.readBytes(path)
    if (file.state !== 'file') return { startDate, size: 0, sha256: sha256(new Uint8Array()) }
    const content = { startDate, size: file.size, sha256: sha256(file.bytes) }
    const isSettled = !inMemory && file.ctimeMs < Date.now() - TICK_MS
    return isSettled ? { ...content, version: versionText(file) } : content
  }
}
