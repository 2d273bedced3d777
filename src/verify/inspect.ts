import { COLUMNS, type Column } from '../candles/columns.js'
import { mayBeOffGrid, nextOpenTime } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import type { WindowSpan } from '../candles/windows.js'
import { buildSeriesGrid, type CandleGrid } from '../rows/candle-grid.js'
import { type CandleTable, DECIMALS } from '../rows/candle-table.js'
import { findGaps, type Gap } from '../rows/gaps.js'
import {
  CANDLE_BYTES,
  CLOSE_TIME,
  COUNT,
  DECIMAL_BYTES,
  DECIMALS as DECIMALS_OFFSET,
  OPEN_TIME,
} from '../rows/wasm/assembly/layout.js'

/**
 * Anomalies of single candles. Harmless: `early_close`; `old_off_grid`, which the exchange has like this. Faults, which cannot be right:
 * `off_grid`, `invalid_values`. Candles without a trade are counted in stretches, because some series have little else.
 */
export type AnomalyKind = 'early_close' | 'old_off_grid' | Fault
type Fault = 'off_grid' | 'invalid_values'

/** A candle with an anomaly; `description` is for people, with the values. */
export type Anomaly = { readonly kind: AnomalyKind; readonly openTime: number; readonly description: string }

/** Successive candles: from the first one's open time to the end of the last one, ms UTC. */
export type CandleRun = WindowSpan & { readonly candles: number }

/** The findings about one series. The counts are exact, and the lists have the first ones. */
export interface Inspection {
  readonly candles: number
  readonly firstOpenTime: number | undefined
  readonly lastOpenTime: number | undefined
  readonly gaps: readonly Gap[]
  /** The first 10,000 of each kind, in order of time. */
  readonly anomalies: readonly Anomaly[]
  readonly counts: Readonly<Record<AnomalyKind, number>>
  /** Number of candles with a fault. */
  readonly invalid: number
  /** Number of candles without a trade. */
  readonly withoutTrades: number
  /** Stretches of candles without a trade, the first 1,000. */
  readonly runsWithoutTrades: readonly CandleRun[]
}

/** How many anomalies of a kind are listed: every candle of a series may have one. */
export const MAX_LISTED = 10_000
/** How many stretches without a trade are listed: a series with little trade has very many. */
export const MAX_RUNS = 1_000

/** Whether candles with anomalies of a kind cannot be right; the others happened at the exchange. */
export function isFault(kind: AnomalyKind): kind is Fault {
  return kind === 'off_grid' || kind === 'invalid_values'
}

/** The anomalies of a series that are faults. */
export function listFaults({ anomalies }: Pick<Inspection, 'anomalies'>): (Anomaly & { readonly kind: Fault })[] {
  return anomalies.filter((one): one is Anomaly & { kind: Fault } => isFault(one.kind))
}

const place = (name: Column) => DECIMALS.indexOf(COLUMNS.indexOf(name))
/** Pairs of decimals whose first must not be greater than the second. */
const ORDERED_PAIRS = (
  [
    ['low', 'open'],
    ['low', 'close'],
    ['open', 'high'],
    ['close', 'high'],
    ['taker_buy_volume', 'volume'],
    ['taker_buy_quote_volume', 'quote_volume'],
  ] as const
).map(([name, other]) => ({ name, other, less: place(name), more: place(other) }))
/** The volumes that are zero without a trade. */
const VOLUMES = ['volume', 'quote_volume'] as const
const [HIGH, LOW] = [place('high'), place('low')]

const DECIMAL_WORDS = DECIMAL_BYTES / 4

/**
 * Checks the candles of a series, in order of time, and the time between them. The codec accepts no wrong order, no
 * negative value and no late close.
 */
export class SeriesInspector {
  private readonly grid: CandleGrid
  private readonly found = {
    candles: 0,
    firstOpenTime: undefined as number | undefined,
    lastOpenTime: undefined as number | undefined,
    gaps: [] as Gap[],
    anomalies: [] as Anomaly[],
    counts: { early_close: 0, old_off_grid: 0, off_grid: 0, invalid_values: 0 },
    invalid: 0,
    withoutTrades: 0,
    runsWithoutTrades: [] as { startTime: number; endTime: number; candles: number }[],
  }
  private lastInvalid: number | undefined
  /** End of the last candle without a trade, ms UTC. */
  private idleUntil: number | undefined

  /**
   * Open times, ms UTC: `firstOpenTime` of the series sets a 3d grid; `before` of any candle before the first one to
   * check, if there is one.
   */
  constructor(
    private readonly series: Series,
    firstOpenTime: number | undefined,
    private readonly before?: number,
  ) {
    this.grid = buildSeriesGrid(series, firstOpenTime ?? before)
  }

  /** Checks rows `start` to `end` (exclusive). `spans`: the time whose candles are all loaded, up to the last row. */
  add(table: CandleTable, start: number, end: number, spans: readonly WindowSpan[]): void {
    const { grid, series, found } = this
    const { words, doubles } = table
    for (let row = start; row < end; row++) {
      const number = (row * CANDLE_BYTES) / 8
      const openTime = doubles[number + OPEN_TIME / 8]
      const closeTime = doubles[number + CLOSE_TIME / 8]
      const previous = found.lastOpenTime ?? this.before
      if (previous !== undefined && openTime !== nextOpenTime(series.interval, previous))
        found.gaps.push(...findGaps(series.interval, grid, spans, previous, openTime))
      const offset = grid.offset(openTime)
      if (offset !== 0) {
        this.note(mayBeOffGrid(openTime) ? 'old_off_grid' : 'off_grid', openTime, `opens ${offset} ms off the grid`)
      }
      const early = nextOpenTime(series.interval, openTime) - 1 - closeTime
      if (early > 0) this.note('early_close', openTime, `closes ${early} ms early`)
      const decimals = (row * CANDLE_BYTES + DECIMALS_OFFSET) / 4
      for (const { name, other, less, more } of ORDERED_PAIRS) {
        if (!isLess(words, decimals + more * DECIMAL_WORDS, decimals + less * DECIMAL_WORDS)) continue
        const [value, limit] = [table.decimal(row, less), table.decimal(row, more)]
        this.note('invalid_values', openTime, `${name} ${value} is above ${other} ${limit}`)
      }
      if (doubles[number + COUNT / 8] === 0) this.checkIdle(table, row)
      found.firstOpenTime ??= openTime
      found.lastOpenTime = openTime
    }
    found.candles += end - start
  }

  /** The findings. `spans` as in `add`. `knownUntil`: a candle before it that is not there is missing, ms UTC. */
  end(spans: readonly WindowSpan[], knownUntil = -Infinity): Inspection {
    const { series, grid, found, before } = this
    const last = found.lastOpenTime ?? before
    if (last !== undefined) found.gaps.push(...findGaps(series.interval, grid, spans, last, knownUntil))
    return found
  }

  /** Notes what a candle without a trade cannot have: prices that differ, or a volume. */
  private checkIdle(table: CandleTable, row: number): void {
    const openTime = table.openTime(row)
    if (table.amount(row, HIGH) > table.amount(row, LOW)) {
      const [high, low] = [table.decimal(row, HIGH), table.decimal(row, LOW)]
      this.note('invalid_values', openTime, `count is 0, but high ${high} is above low ${low}`)
    }
    for (const name of VOLUMES) {
      if (table.amount(row, place(name)) === 0n) continue
      this.note('invalid_values', openTime, `count is 0, but ${name} is ${table.decimal(row, place(name))}`)
    }
    const endTime = table.closeTime(row) + 1
    const { runsWithoutTrades: runs } = this.found
    const last = runs.at(-1)
    if (last?.endTime === openTime) {
      last.endTime = endTime
      last.candles++
    } else if (this.idleUntil !== openTime && runs.length < MAX_RUNS) {
      runs.push({ startTime: openTime, endTime, candles: 1 })
    }
    this.idleUntil = endTime
    this.found.withoutTrades++
  }

  private note(kind: AnomalyKind, openTime: number, description: string): void {
    const { counts, anomalies } = this.found
    if (isFault(kind) && openTime !== this.lastInvalid) {
      this.found.invalid++
      this.lastInvalid = openTime
    }
    if (counts[kind]++ < MAX_LISTED) anomalies.push({ kind, openTime, description })
  }
}

/** Whether a decimal is less than another one: their places among 32-bit words, the lowest one first. */
function isLess(words: Uint32Array, decimal: number, other: number): boolean {
  for (let word = DECIMAL_WORDS - 1; word >= 0; word--) {
    const [a, b] = [words[decimal + word], words[other + word]]
    if (a !== b) return a < b
  }
  return false
}
