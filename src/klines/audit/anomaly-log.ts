import type { WindowSpan } from '../windows.js'

/** Kinds of harmless oddities that users should know about. `old_off_grid`: the exchange has the candle like this. */
const NOTES = ['early_close', 'old_off_grid'] as const
/** Kinds of faults: the candle cannot be right. */
const FAULTS = ['duplicate', 'out_of_order', 'off_grid', 'invalid_values'] as const
export type Fault = (typeof FAULTS)[number]

/** Anomalies of single candles. Candles without a trade are counted in stretches, because some series have little else. */
export type AnomalyKind = (typeof NOTES)[number] | Fault

/** A candle with an anomaly. */
export interface Anomaly {
  readonly kind: AnomalyKind
  readonly openTime: number
  /** For people, with the values. */
  readonly description: string
}

/** Successive candles: from the first one's open time to the end of the last one, ms UTC. */
export interface CandleRun extends WindowSpan {
  readonly candles: number
}

/** What is odd about the candles of a series. The counts are exact, and the lists have the first ones. */
export interface AnomalyFindings {
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
  return (FAULTS as readonly AnomalyKind[]).includes(kind)
}

/** Counts the anomalies of a series, and lists the first ones, so that it stays small for any series. */
export class AnomalyLog {
  private readonly anomalies: Anomaly[] = []
  private readonly counts = Object.fromEntries([...NOTES, ...FAULTS].map(kind => [kind, 0])) as Record<
    AnomalyKind,
    number
  >
  private invalid = 0
  private lastInvalid: number | undefined
  private withoutTrades = 0
  private readonly runs: { startTime: number; endTime: number; candles: number }[] = []
  /** End of the last candle without a trade, ms UTC. */
  private runEnd: number | undefined

  /** Notes an anomaly of the candle that opens at `openTime`, ms UTC; candles come in order of time. */
  note(kind: AnomalyKind, openTime: number, describe: () => string): void {
    if (isFault(kind) && openTime !== this.lastInvalid) {
      this.invalid++
      this.lastInvalid = openTime
    }
    if (this.counts[kind]++ < MAX_LISTED) this.anomalies.push({ kind, openTime, description: describe() })
  }

  /** Adds candles without a trade that follow each other; runs come in order of time. */
  addRun(startTime: number, endTime: number, candles: number): void {
    const last = this.runs.at(-1)
    if (last?.endTime === startTime) {
      last.endTime = endTime
      last.candles += candles
    } else if (this.runEnd !== startTime && this.runs.length < MAX_RUNS) this.runs.push({ startTime, endTime, candles })
    this.runEnd = endTime
    this.withoutTrades += candles
  }

  get findings(): AnomalyFindings {
    const { anomalies, counts, invalid, withoutTrades, runs: runsWithoutTrades } = this
    return { anomalies, counts, invalid, withoutTrades, runsWithoutTrades }
  }
}
