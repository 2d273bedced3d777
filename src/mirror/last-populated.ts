import { join } from 'node:path'
import { decodeWindow } from '../klines/batch/window-codec.js'
import { isKlinesError } from '../klines/errors.js'
import { windowPath } from '../klines/paths.js'
import { type WindowRef, windowOf } from '../klines/series.js'
import { readFile, statPath } from './file-store.js'
import { listStartDates, seriesFolder } from './series-folder.js'

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

  constructor(private readonly root: string) {}

  /**
   * The latest startDate of the window's series whose file is valid and has candles, or any such startDate after the window.
   * A series is searched once, and again when its folder has changed and no later window is known. Throws what the file
   * system throws.
   */
  find(window: WindowRef): string | undefined {
    const folder = seriesFolder(this.root, window)
    const last = this.searches.get(folder)
    if ((last?.startDate ?? '') > window.startDate) return last?.startDate
    // `/.` follows a linked folder, whose own time never changes.
    const folderTime = statPath(`${folder}/.`)?.mtimeMs
    if (last && last.folderTime === folderTime) return last.startDate
    const startDate = listStartDates(this.root, window).findLast(date => this.isPopulated(windowOf(window, date)))
    this.searches.set(folder, { startDate, folderTime })
    return startDate
  }

  private isPopulated(window: WindowRef): boolean {
    const file = readFile(join(this.root, windowPath(window)))
    try {
      return file.state === 'file' && decodeWindow(file.bytes, window).length > 0
    } catch (error) {
      if (isKlinesError(error, 'bad_window')) return false
      throw error
    }
  }
}
