import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Interval } from '../../../src/candles/intervals.js'
import { windowPath } from '../../../src/candles/paths.js'
import type { Series, WindowRef } from '../../../src/candles/series.js'
import { filesBelow } from '../files-below.js'
import type { Random } from '../random.js'
import type { Row } from '../synthetic-tree.js'
import { FINEST, type SoundMirror } from './sound-mirror.js'
import { changesLongerCandles } from './visible-change.js'

/** Where a window is among those of its series that have candles. */
export type Position = 'any' | 'oldest' | 'inner' | 'newest'

/** What was damaged. */
export interface Damage extends Series {
  /** Of the changed window, or of one of a series that is changed. */
  readonly startDate: string
  /** Whether a longer candle of the mirror, or the changed candle itself, tells. */
  readonly isVisible: boolean
}

/** A sound mirror of which random places are changed: its files are other names of the sound ones until then, and keep their times. */
export class DamagedMirror {
  constructor(
    readonly root: string,
    private readonly sound: SoundMirror,
    readonly random: Random,
  ) {
    rmSync(root, { recursive: true, force: true })
    for (const name of filesBelow(sound.root)) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      linkSync(join(sound.root, name), join(root, name))
    }
  }

  get intervals(): readonly Interval[] {
    return this.sound.intervals
  }

  /** A random series with so many windows, or more. */
  pickSeries(intervals = this.intervals, windows = 1): Series {
    const { random, sound } = this
    const all = sound.symbols.flatMap(symbol => intervals.map(interval => ({ symbol, interval }) as Series))
    return random.pick(all.filter(series => this.startDates(series).length >= windows))
  }

  /** A random window with candles. */
  pickWindow(position: Position, series = this.pickSeries(this.intervals, position === 'inner' ? 3 : 1)): WindowRef {
    const dates = this.startDates(series)
    const some = { any: dates, oldest: dates.slice(0, 1), inner: dates.slice(1, -1), newest: dates.slice(-1) }
    return { ...series, startDate: this.random.pick(some[position]) }
  }

  /** The windows of a series that have candles. */
  startDates(series: Series): string[] {
    const names = readdirSync(join(this.root, dirname(windowPath({ ...series, startDate: '' }))))
    const dates = names.map(name => name.slice(0, 10)).sort()
    return dates.filter(startDate => statSync(join(this.root, windowPath({ ...series, startDate }))).size > 2)
  }

  /** The same series of the other symbol. */
  twin({ symbol, interval }: Series): Series {
    return { symbol: this.sound.symbols.find(other => other !== symbol), interval } as Series
  }

  bytes(window: WindowRef): Buffer {
    return readFileSync(join(this.root, windowPath(window)))
  }

  rows(window: WindowRef): Row[] {
    return JSON.parse(this.bytes(window).toString())
  }

  /** Changes the rows of a window. */
  edit(window: WindowRef, change: (rows: Row[]) => readonly Row[]): Damage {
    return this.overwrite(window, Buffer.from(JSON.stringify(change(this.rows(window)))))
  }

  /** Changes the bytes of a window. */
  overwrite(window: WindowRef, content: Buffer): Damage {
    const before = this.bytes(window)
    if (content.equals(before)) throw new Error(`Nothing was changed in ${windowPath(window)}.`)
    const file = join(this.root, windowPath(window))
    const { atimeMs, mtimeMs } = statSync(file)
    rmSync(file)
    writeFileSync(file, content)
    utimesSync(file, atimeMs / 1000, mtimeMs / 1000)
    return { ...window, isVisible: window.interval !== FINEST || changesLongerCandles(before, content) }
  }

  /** Removes a window. */
  remove(window: WindowRef): Damage {
    rmSync(join(this.root, windowPath(window)))
    return { ...window, isVisible: true }
  }

  /** Removes a series. */
  removeSeries(): Damage {
    const window = this.pickWindow('any')
    rmSync(join(this.root, dirname(windowPath(window))), { recursive: true })
    return { ...window, isVisible: true }
  }
}
