import pMap from 'p-map'
import { windowSpan } from '../klines/windows.js'
import { incomplete } from './errors.js'
import type { SeriesPlan } from './plan.js'
import type { WindowSource } from './sources/window-source.js'

/** A source limits the requests of all. */
const READS_AT_ONCE = 16

/**
 * Reduces a plan to the windows of the newest candles. `firstTime` returns the open time of the first candle that is needed, ms
 * UTC, for that of the newest one. A plan without candles stays as it is. Throws `incomplete` for a window that could not be
 * downloaded or read.
 */
export async function planNewest(
  source: WindowSource,
  plan: SeriesPlan,
  firstTime: (newest: number) => number,
): Promise<SeriesPlan> {
  const newest = await new NewestSearch(source, plan).find()
  if (newest === undefined) return plan
  const { windows, range } = plan
  const fromTime = Math.max(range.fromTime, firstTime(newest.openTime))
  const needed = windows.slice(0, newest.index + 1).filter(window => windowSpan(window).endTime > fromTime)
  return { ...plan, range: { ...range, fromTime }, windows: needed }
}

/** A window with candles in the range. */
interface FoundWindow {
  /** Its place in the plan. */
  readonly index: number
  /** Open time of its last candle, ms UTC. */
  readonly openTime: number
}

/**
 * Finds the last window with candles of a plan. A list of windows may go on long after the last candle, so only windows after it
 * are read, and few before it. A symbol may pause for long, so that a window after any number of empty ones may have candles:
 * whoever wants the newest one of a symbol that was delisted long ago waits for some hundred small answers.
 */
class NewestSearch {
  /** Indexes of windows that are empty, ascending; there are none before the first window and after the last one. */
  private readonly empty: number[]

  constructor(
    private readonly source: WindowSource,
    private readonly plan: SeriesPlan,
  ) {
    this.empty = [-1, plan.windows.length]
  }

  /** Undefined when all windows are empty. */
  async find(): Promise<FoundWindow | undefined> {
    const found = (await this.findInSteps()) ?? (await this.findInGaps())
    return found && (await this.findLastFrom(found))
  }

  /** Some window with candles, in steps that double, back from the newest one. */
  private async findInSteps(): Promise<FoundWindow | undefined> {
    let step = 1
    for (let index = this.plan.windows.length - 1; index >= 0; index -= step, step *= 2) {
      const found = await this.read(index)
      if (found) return found
    }
    return undefined
  }

  /** A few windows with candles may lie between two empty ones: in the middle of the widest gap, if anywhere. */
  private async findInGaps(): Promise<FoundWindow | undefined> {
    for (;;) {
      const [before, after] = widestGap(this.empty)
      if (after - before <= 1) return undefined
      const found = await this.read(Math.floor((before + after) / 2))
      if (found) return found
    }
  }

  /** The last window with candles: this one, or one of those after it that have not been read. */
  private async findLastFrom(found: FoundWindow): Promise<FoundWindow> {
    const isUnread = (index: number) => index > found.index && !this.empty.includes(index)
    const unread = [...this.plan.windows.keys()].filter(isUnread)
    const read = await pMap(unread, index => this.read(index), { concurrency: READS_AT_ONCE })
    return read.findLast(window => window !== undefined) ?? found
  }

  /** Reads a window; undefined for one without candles in the range. */
  private async read(index: number): Promise<FoundWindow | undefined> {
    const { windows, range } = this.plan
    const result = await this.source.window(windows[index])
    if (result.status === 'failed') throw incomplete([result], 1, this.source.info)
    const batch = result.batch.slice(range.fromTime, range.toTime)
    if (batch.length > 0) return { index, openTime: batch.openTime(batch.length - 1) }
    this.empty.push(index)
    this.empty.sort((a, b) => a - b)
    return undefined
  }
}

/** The neighbours with the widest distance, of ascending indexes. */
function widestGap(indexes: readonly number[]): readonly [number, number] {
  let widest: readonly [number, number] = [indexes[0], indexes[1]]
  for (let at = 2; at < indexes.length; at++) {
    if (indexes[at] - indexes[at - 1] > widest[1] - widest[0]) widest = [indexes[at - 1], indexes[at]]
  }
  return widest
}
