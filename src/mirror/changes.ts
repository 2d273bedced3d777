import { errnoCode } from '../fs/errno.js'
import { refuseLinks } from '../fs/links.js'
import type { WindowChange } from '../klines/batch/diff.js'
import type { Column } from '../klines/columns.js'
import type { WindowRef } from '../klines/series.js'
import { toMirrorError } from './errors.js'
import { LineFile, MAX_LINE_FILE_BYTES } from './line-file.js'

/** The file at a mirror's root that has the changed candles: outside of the tree, so that nothing lists, serves or publishes it. */
export const CHANGES_FILE = 'changes.jsonl'

/** Two decimals are far shorter, and so is an `ignore`. */
const MAX_LINE_BYTES = 64 * 1024
/** How each line begins: a file that begins otherwise is somebody else's. */
const FIRST_KEY = '{"time":'

/** A cell of a cached candle that the service changed: a line of the file. Times in ms UTC. */
export interface RecordedChange extends WindowRef {
  /** When the change was seen, by this machine's clock. */
  readonly time: number
  readonly openTime: number
  readonly column: Column
  /** Null for a candle that was not there, although a later one of its window was: its `column` is `open_time`. */
  readonly before: string | null
  readonly after: string
}

/**
 * What a new version of a window changes of the cached one: cells, and candles that it adds before the last cached one. Candles after
 * that are no change, and of a version that lacks candles nothing is stored.
 */
export function listChanges(
  { interval, symbol, startDate }: WindowRef,
  { added, changed }: WindowChange,
  lastOpenTime: number | undefined,
  time: number,
): RecordedChange[] {
  const window = { symbol, interval, startDate }
  const filled = added
    .filter(openTime => openTime < (lastOpenTime ?? -Infinity))
    .map(openTime => ({ openTime, column: 'open_time' as const, before: null, after: String(openTime) }))
  return [...changed, ...filled]
    .sort((a, b) => a.openTime - b.openTime)
    .map(({ openTime, column, before, after }) => ({ time, ...window, openTime, column, before, after }))
}

/** The candles of a mirror that the service changed after they were downloaded. */
export class MirrorChanges {
  private readonly file: LineFile

  /** `maxBytes`: when the file would become larger, its older half goes. */
  constructor(
    private readonly root: string,
    private readonly maxBytes = MAX_LINE_FILE_BYTES,
  ) {
    this.file = new LineFile(root, CHANGES_FILE, { maxLineBytes: MAX_LINE_BYTES, maxBytes, sync: true })
  }

  /** Appends the changes of a window, with one write; they are on the disk when it returns. Throws `mirror_unusable` and `linked_path`. */
  append(changes: readonly RecordedChange[]): void {
    const lines = changes.map(change => `${JSON.stringify(change)}\n`).join('')
    try {
      refuseLinks(this.root, CHANGES_FILE)
      if (!this.isOwn) throw new Error('it is no list of changed candles')
      this.file.append(
        lines,
        (bytes, size) => {
          const kept = size + bytes.length > this.maxBytes ? this.maxBytes / 2 : size
          this.file.replace(Buffer.concat([this.file.readEnd(Math.floor(kept)), bytes]))
        },
        this.maxBytes,
      )
    } catch (error) {
      throw toMirrorError(error, 'write', this.root, CHANGES_FILE)
    }
  }

  /** Whether the file, if it is there, has changes of a mirror: any folder may have another file of that name. Throws `mirror_unusable`. */
  private get isOwn(): boolean {
    try {
      return FIRST_KEY.startsWith(this.file.readStart(FIRST_KEY.length).toString())
    } catch (error) {
      if (errnoCode(error) === 'ENOENT') return true
      throw toMirrorError(error, 'read', this.root, CHANGES_FILE)
    }
  }
}
