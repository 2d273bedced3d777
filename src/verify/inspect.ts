import { type Interval, mayBeOffGrid, nextOpenTime } from '../candles/intervals.js'
import type { WindowSpan } from '../candles/windows.js'
import type { CandleGrid } from '../rows/candle-grid.js'
import type { CandleTable } from '../rows/candle-table.js'
import { findGaps, type Gap } from '../rows/gaps.js'

/** A candle with something odd; `description` is for people, with the values. */
type Oddity = { readonly openTime: number; readonly description: string }
type FaultKind = 'off_grid' | 'invalid_values'

/** How many candles of a kind, and stretches without a trade, are listed: a series may have little else. */
const MAX_LISTED = 10_000
const MAX_RUNS = 1_000

/** The findings about one series. The counts are exact, and the lists have the first ones, in order of time. */
export type Inspection = ReturnType<typeof noFindings>

function noFindings() {
  return {
    candles: 0,
    firstOpenTime: undefined as number | undefined,
    lastOpenTime: undefined as number | undefined,
    gaps: [] as Gap[],
    earlyClose: [] as Oddity[],
    /** Candles that the exchange itself has off the grid. */
    offGrid: [] as Oddity[],
    faults: [] as (Oddity & { readonly kind: FaultKind })[],
    /** Successive candles without a trade, up to the end of the last one. */
    zeroTrades: [] as { startTime: number; endTime: number; candles: number }[],
    /** `invalid`: candles with a fault. */
    counts: { earlyClose: 0, zeroTrades: 0, offGrid: 0, invalid: 0 },
  }
}

/** Checks the candles of a series, and the time between them. The codec has refused wrong order and late closes. */
export class SeriesInspector {
  private readonly found = noFindings()
  private lastInvalid: number | undefined

  /** `before`: the open time of any candle before the first one to check, if there is one. */
  constructor(
    private readonly interval: Interval,
    private readonly before?: number,
  ) {}

  /** Checks rows `start` to `end` (exclusive). `spans`: the time whose candles are all loaded, up to the last row. */
  add(table: CandleTable, start: number, end: number, grid: CandleGrid, spans: readonly WindowSpan[]): void {
    const { found, interval } = this
    if (end <= start) return
    const before = (row: number) => (row > start ? table.openTime(row - 1) : (found.lastOpenTime ?? this.before))
    const nextOdd = (row: number) => {
      const previous = before(row)
      const expected = previous === undefined ? Number.NaN : nextOpenTime(interval, previous)
      return table.findOdd(row, end, expected, grid)
    }
    for (let row = nextOdd(start); row < end; row = nextOdd(row + 1)) this.inspect(table, row, before(row), grid, spans)
    found.firstOpenTime ??= table.openTime(start)
    found.lastOpenTime = table.openTime(end - 1)
    found.candles += end - start
  }

  /** Checks a row. `before`: the open time of the candle before it, if there is one. */
  private inspect(
    table: CandleTable,
    row: number,
    before: number | undefined,
    grid: CandleGrid,
    spans: readonly WindowSpan[],
  ): void {
    const { found, interval } = this
    const openTime = table.openTime(row)
    if (before !== undefined) found.gaps.push(...findGaps(interval, grid, spans, before, openTime))
    const offset = grid.offset(openTime)
    if (offset !== 0) this.addOffGrid({ openTime, description: `opens ${offset} ms off the grid` })
    const early = nextOpenTime(interval, openTime) - 1 - table.closeTime(row)
    if (early > 0 && found.counts.earlyClose++ < MAX_LISTED)
      found.earlyClose.push({ openTime, description: `closes ${early} ms early` })
    for (const description of table.faults(row)) this.addFault('invalid_values', { openTime, description })
    if (table.count(row) === 0) this.addIdle(table, row)
  }

  /** The findings. `spans` as in `add`. `knownUntil`: a candle before it that is not there is missing, ms UTC. */
  end(grid: CandleGrid, spans: readonly WindowSpan[], knownUntil = -Infinity): Inspection {
    const { interval, found, before } = this
    const last = found.lastOpenTime ?? before
    if (last !== undefined) found.gaps.push(...findGaps(interval, grid, spans, last, knownUntil))
    return found
  }

  /** Adds a candle without a trade to the stretch that it continues. */
  private addIdle(table: CandleTable, row: number): void {
    const openTime = table.openTime(row)
    const endTime = table.closeTime(row) + 1
    const { zeroTrades: runs, counts } = this.found
    const last = runs.at(-1)
    if (last?.endTime === openTime) {
      last.endTime = endTime
      last.candles++
    } else if (runs.length < MAX_RUNS) {
      runs.push({ startTime: openTime, endTime, candles: 1 })
    }
    counts.zeroTrades++
  }

  private addOffGrid(candle: Oddity): void {
    const { counts, offGrid } = this.found
    if (!mayBeOffGrid(candle.openTime)) this.addFault('off_grid', candle)
    else if (counts.offGrid++ < MAX_LISTED) offGrid.push(candle)
  }

  private addFault(kind: FaultKind, candle: Oddity): void {
    if (candle.openTime !== this.lastInvalid) this.found.counts.invalid++
    this.lastInvalid = candle.openTime
    if (this.found.faults.length < MAX_LISTED) this.found.faults.push({ kind, ...candle })
  }
}
