import type { WrittenFile } from '../../export/target-file.js'
import type { LakePart } from '../manifest.js'
import type { ReadWindows } from './encode-series.js'
import type { FileContent } from './file-version.js'
import type { PartMessage } from './part-encoder.js'
import { type PartOptions, PartWriter, type PresentPart } from './part-writer.js'
import type { SeriesState } from './series-state.js'

/** How parts are put in their places. */
export interface Placing {
  /** The part in a folder, if it has that content. */
  readonly findSame: (state: SeriesState, folder: string, content: FileContent) => PresentPart | undefined
  /** Runs before a part is put in its place. */
  readonly beforeCommit: (state: SeriesState) => Promise<void>
  /** Called with each new part when it is in its place. */
  readonly placed: (file: WrittenFile) => void
}

/** Writes the parts of one series beside their places, and puts them there when all of the lake is complete. */
export class SeriesWriter {
  /** Set when all parts are on the disk. */
  read: ReadWindows | undefined
  /** Those that stay, and those that are written. */
  private readonly parts: (LakePart | PartWriter)[] = []

  constructor(
    private readonly state: SeriesState,
    private readonly options: PartOptions,
  ) {}

  /** Takes what an encoder emits next. */
  async write(message: PartMessage): Promise<void> {
    const { state, parts } = this
    if ('begin' in message) {
      const { begin } = message
      const present = begin.isCurrent ? state.presentPart(begin.folder) : undefined
      parts.push(present ?? new PartWriter(begin, state.run, this.options))
      return
    }
    const part = parts.at(-1)
    if (!(part instanceof PartWriter)) throw new Error('Bytes of a part that stays.')
    await ('end' in message ? part.finish(message.end) : part.write(message))
  }

  /** Puts the parts in their places, one after the other, and describes all. */
  async place({ findSame, beforeCommit, placed }: Placing): Promise<LakePart[]> {
    const { state, parts } = this
    for (const [index, writer] of parts.entries()) {
      if (!(writer instanceof PartWriter)) continue
      const { part, file } = await writer.place(
        (folder, content) => findSame(state, folder, content),
        () => beforeCommit(state),
      )
      parts[index] = part
      if (file) placed(file)
    }
    return parts as LakePart[]
  }

  /** Leaves the parts that are not in their places as they were. Never throws. */
  async discard(): Promise<void> {
    for (const part of this.parts) if (part instanceof PartWriter) await part.discard()
  }
}
