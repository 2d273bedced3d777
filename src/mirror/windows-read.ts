import { type FileVersion, isSameVersion } from '../fs/read-file.js'
import { decodeWindow } from '../klines/batch/window-codec.js'
import { isKlinesError } from '../klines/errors.js'
import { seriesPath, windowPath } from '../klines/paths.js'
import { seriesName, type WindowRef, windowOf } from '../klines/series.js'
import type { WindowEnds } from '../trees/window-ends.js'
import type { MirrorContents } from './mirror-contents.js'
import type { MirrorFiles } from './mirror-files.js'

/** Windows are read series by series, and a few series at once. */
const MAX_SERIES = 8

interface ReadEnds extends FileVersion, WindowEnds {}

/** The first and last candles of windows that were read, of the latest series: whoever has read a window need not read it again. */
export class EndsRead {
  private readonly series = new Map<string, Map<string, ReadEnds>>()

  add(window: WindowRef, version: FileVersion, { firstOpenTime, lastOpenTime }: WindowEnds): void {
    const { ino, size, mtimeMs, ctimeMs } = version
    const name = seriesName(window)
    const windows = this.series.get(name) ?? new Map<string, ReadEnds>()
    windows.set(window.startDate, { ino, size, mtimeMs, ctimeMs, firstOpenTime, lastOpenTime })
    this.series.set(name, windows)
    const [oldest] = this.series.keys()
    if (this.series.size > MAX_SERIES) this.series.delete(oldest)
  }

  /** The candles of a file; undefined when this version of it was not read. */
  find(window: WindowRef, file: FileVersion): WindowEnds | undefined {
    const known = this.series.get(seriesName(window))?.get(window.startDate)
    return isSameVersion(known, file) ? known : undefined
  }
}

/** The result of one search through a series. */
interface Search {
  /** The latest startDate whose window has candles. */
  readonly startDate: string | undefined
  /** Modification time of the series' folder at the search, ms: a new file changes it. */
  readonly folderTime: number | undefined
}

/** Finds the last window with candles of each series in a mirror; every window before it is complete. */
export class LastPopulated {
  private readonly searches = new Map<string, Search>()

  constructor(
    private readonly files: MirrorFiles,
    private readonly contents: MirrorContents,
  ) {}

  /**
   * The latest startDate of the window's series whose file is valid and has candles, or any such startDate after the window.
   * A series is searched once, and again when its folder has changed and no later window is known. Throws `mirror_unusable`.
   */
  find(window: WindowRef): string | undefined {
    const folder = seriesPath(window)
    const last = this.searches.get(folder)
    if ((last?.startDate ?? '') > window.startDate) return last?.startDate
    const folderTime = this.files.folderTime(folder)
    if (last && last.folderTime === folderTime) return last.startDate
    const startDate = this.contents.startDates(window).findLast(date => this.isPopulated(windowOf(window, date)))
    this.searches.set(folder, { startDate, folderTime })
    return startDate
  }

  private isPopulated(window: WindowRef): boolean {
    const file = this.files.read(windowPath(window))
    try {
      return file.state === 'file' && decodeWindow(file.bytes, window).length > 0
    } catch (error) {
      if (isKlinesError(error, 'bad_window')) return false
      throw error
    }
  }
}
