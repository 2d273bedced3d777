import { type CrossCheck, CrossChecker } from '../klines/audit/cross-check.js'
import { nextOpenTime, stepsBetween } from '../klines/intervals.js'
import { CandleTables } from '../klines/kernel/candle-table.js'
import { Kernel } from '../klines/kernel/kernel.js'
import type { TimeRange } from '../klines/time-range.js'
import { windowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import { type SeriesInspection, SeriesReader, type SeriesWindows } from './series-reader.js'

/**
 * How many candles of the finest series are in memory at once: 18 MB. With the longer intervals of the exchange and the aggregates,
 * a slice of 1m takes 50 MB.
 */
const SLICE_CANDLES = 100_000

/** What is verified of every series. */
export interface VerifyScope {
  /** The open times of the candles that are inspected. */
  readonly range: TimeRange
  /** A window without a file is missing, unless it starts later (ms UTC) or the mirror says that it is empty. */
  readonly neededUntil: number
  /** The number of candles of the finest series in a slice of time. Default 100,000. */
  readonly sliceCandles?: number | undefined
}

/** The inspection of a series and how far finer series of the symbol confirm it. */
export interface SeriesFindings extends SeriesInspection {
  /** Candles that were compared with no finer series. */
  readonly unverified: number
}

/** The findings for the series of one symbol. */
export interface SymbolFindings extends Pick<CrossCheck, 'pairs' | 'differences'> {
  readonly series: readonly SeriesFindings[]
}

/** Reads, inspects and compares the series of one symbol after another, slice by slice of time, in the same memory. */
export class SymbolVerifier {
  private readonly tables: CandleTables

  /** `kernel`: where the candles are. */
  constructor(
    private readonly mirror: Mirror,
    private readonly scope: VerifyScope,
    kernel = new Kernel(),
  ) {
    this.tables = new CandleTables(kernel)
  }

  /**
   * Inspects every candle of the series of one symbol and calls `afterRead` with the number of windows each time when some of a
   * series were read. Throws `digits_lost` for a decimal too long for exact sums, `mirror_unusable`, and what `afterRead` throws.
   */
  async verify(
    seriesWindows: readonly SeriesWindows[],
    afterRead: (windows: number) => Promise<void> = async () => {},
  ): Promise<SymbolFindings> {
    const { sliceCandles = SLICE_CANDLES } = this.scope
    const readers = seriesWindows.map(windows => this.open(windows, sliceCandles))
    const readTo = async (time: number) => {
      for (const reader of readers) {
        const { done } = reader
        reader.readTo(time)
        if (reader.done > done) await afterRead(reader.done - done)
      }
      const lastCandles = readers.flatMap(({ lastCandle }) => lastCandle ?? [])
      for (const reader of readers) reader.compareEnds(lastCandles)
    }
    // The first candles set the grids.
    await readTo(-Infinity)
    const checker = new CrossChecker(readers, this.tables)
    const sliceMs = sliceCandles * Math.min(...readers.map(({ series }) => nextOpenTime(series.interval, 0)))
    let end = Math.min(...readers.map(({ firstOpenTime = Infinity }) => firstOpenTime))
    do {
      end = readers.every(({ isDone }) => isDone) ? Infinity : end + sliceMs
      await readTo(end)
      checker.check(end)
    } while (end !== Infinity)
    const { pairs, differences, unverified } = checker.result
    const series = readers.map(reader => ({ ...reader.end(), unverified: unverified.get(reader.series.interval) ?? 0 }))
    return { series, pairs, differences }
  }

  private open(windows: SeriesWindows, sliceCandles: number): SeriesReader {
    const { interval, startDates } = windows
    const table = this.tables.empty(interval)
    if (startDates.length > 0) {
      const { startTime, endTime } = windowSpan({ interval, startDate: startDates[0] })
      const candles = stepsBetween(interval, startTime, endTime)
      // A table that is reserved at once is not moved when it grows. A slice ends within a window.
      table.reserve(Math.min(startDates.length * candles, sliceCandles + 2 * candles))
    }
    return new SeriesReader(this.mirror, windows, table, this.scope.range, this.scope.neededUntil)
  }
}
