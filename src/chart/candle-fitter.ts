import { isKlinesError, type KlinesError } from '../candles/errors.js'
import { DAY_MS, EXCHANGE_INTERVALS } from '../candles/intervals.js'
import type { SeriesLabel } from '../candles/series.js'
import { hasListingDate } from '../rows/candle-grid.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { Resampler } from '../rows/resampler.js'
import {
  hasListingGrid,
  isMultiple,
  parseTargetInterval,
  slotAfter,
  slotsBetween,
  type TargetInterval,
} from '../rows/target-interval.js'
import { Kernel } from '../rows/wasm/kernel.js'
import { type ChartCandle, type FittedCandles, readCandle, type Slot } from './chart-candle.js'

/** How candles are fitted into a picture. */
export interface FitOptions {
  /** Room of the picture, in candles; at least 1. */
  readonly maxCandles: number
  /** All candles, resampled if they are too many, or only the newest ones. */
  readonly keep: 'all' | 'newest'
  /** The length of candles that the caller wants at the least. Default: the interval of the series. */
  readonly resample?: TargetInterval | undefined
  /** Open time of any 3d candle of the symbol, ms UTC: without it nothing shorter than 3d is resampled to 3d. */
  readonly anchor?: number | undefined
}

/**
 * Fits the candles of one series into a picture, in one pass over its batches and in memory for a few pictures. Missing
 * candles between two others take room, too. With `keep: 'all'`, candles that do not fit are resampled exactly to the shortest
 * interval of `resampleLadder` for which they do.
 */
export class CandleFitter<S extends SeriesLabel> {
  /** The lengths that may still fit, shortest first. */
  private candidates: Candidate[] | undefined
  private firstTime: number | undefined
  private lastTime: number | undefined

  constructor(
    private readonly series: S,
    private readonly options: FitOptions,
  ) {}

  /** Adds the next candles; batches come in order of time. Throws `bad_option` when the candles do not fit into `resample`. */
  add(batch: KlineBatch): void {
    if (batch.length === 0) return
    this.firstTime ??= batch.openTime(0)
    this.lastTime = batch.openTime(batch.length - 1)
    this.candidates ??= this.buildCandidates(this.firstTime)
    for (const candidate of this.candidates) candidate.add(batch)
    this.dropCandidates()
  }

  /**
   * The candles of the picture. The last one may be incomplete: a picture ends with the newest price. Throws `digits_lost` when
   * they must be resampled and have a decimal too long for exact sums.
   */
  end(): FittedCandles<S> {
    for (const candidate of this.candidates ?? []) candidate.end()
    this.dropCandidates()
    const { series, lastTime } = this
    const candidate = this.candidates?.[0]
    if (candidate?.failure) throw candidate.failure
    const slots = candidate?.slots(this.options.maxCandles) ?? []
    const candles = slots.filter(slot => slot.candle !== undefined).length
    const interval = (candidate?.target ?? this.options.resample ?? parseTargetInterval(series.interval)).name
    const resampledFrom = interval === series.interval ? undefined : series.interval
    const firstTime = this.firstTime && Math.max(this.firstTime, slots[0].openTime)
    return { series, interval, resampledFrom, slots, candles, missing: slots.length - candles, firstTime, lastTime }
  }

  private buildCandidates(firstTime: number): Candidate[] {
    const { series, options } = this
    const { maxCandles, resample } = options
    const shortest = resample ?? parseTargetInterval(series.interval)
    const kernel = new Kernel()
    const build = (target: TargetInterval, maxSlots: number) => {
      const isSource = target === shortest && resample === undefined
      const resampler = isSource ? undefined : new Resampler(series, target, { partial: true }, kernel)
      return new Candidate(target, resampler, maxSlots, maxCandles)
    }
    if (options.keep === 'newest') return [build(shortest, Infinity)]
    const anchor =
      options.anchor ??
      resample?.anchor ??
      (hasListingGrid(parseTargetInterval(series.interval)) ? firstTime : undefined)
    const longer = resampleLadder(series, anchor).filter(
      target => approximateLength(target) > approximateLength(shortest),
    )
    // The last one fits in any case: there is no longer interval to resample to.
    return [shortest, ...longer].map((target, index) => build(target, index < longer.length ? maxCandles : Infinity))
  }

  private dropCandidates(): void {
    this.candidates = this.candidates?.filter(candidate => candidate.fits)
  }
}

/** Candles of one length. */
class Candidate {
  private candles: ChartCandle[] = []
  private slotCount = 0
  /** Why its candles cannot be added up. It matters only if no shorter candidate fits. */
  failure: KlinesError | undefined

  constructor(
    readonly target: TargetInterval,
    private readonly resampler: Resampler | undefined,
    /** The candidate fits as long as it does not need more slots than that. */
    private readonly maxSlots: number,
    /** Older candles than so many need not be kept. */
    private readonly maxCandles: number,
  ) {}

  get fits(): boolean {
    return this.slotCount <= this.maxSlots
  }

  add(batch: KlineBatch): void {
    this.attempt(() => this.take(this.resampler ? this.resampler.add(batch) : batch))
  }

  end(): void {
    this.attempt(() => this.take(this.resampler?.end()))
  }

  private attempt(action: () => void): void {
    if (this.failure) return
    try {
      action()
    } catch (error) {
      if (!isKlinesError(error, 'digits_lost')) throw error
      this.failure = error
    }
  }

  /** The newest slots, at most `max`. */
  slots(max: number): Slot[] {
    const { candles, target } = this
    const newest: Slot[] = []
    for (let index = candles.length - 1; index >= 0 && newest.length < max; index--) {
      const candle = candles[index]
      const later = candles[index + 1]
      const missing = later ? slotsBetween(target, candle.openTime, later.openTime) - 1 : 0
      if (newest.length + missing >= max) break
      for (let step = missing; step >= 1; step--) {
        newest.push({ openTime: slotAfter(target, candle.openTime, step), candle: undefined })
      }
      newest.push({ openTime: candle.openTime, candle })
    }
    return newest.reverse()
  }

  private take(batch: KlineBatch | undefined): void {
    if (batch === undefined) return
    // Without a limit of slots, all but the newest rows of a batch are of no use.
    const start = this.maxSlots === Infinity ? Math.max(0, batch.length - this.maxCandles) : 0
    for (let row = start; row < batch.length && this.fits; row++) {
      const last = this.candles[this.candles.length - 1]
      this.slotCount += last ? slotsBetween(this.target, last.openTime, batch.openTime(row)) : 1
      if (this.candles.length >= 2 * this.maxCandles) this.candles = this.candles.slice(-this.maxCandles)
      this.candles.push(readCandle(batch, row))
    }
  }
}

const LONGER = ['2M', '1q', '6M', '1y', '2y', '5y', '10y', '20y', '50y', '100y']
/** 3d, 1w and others that do not start with the day fit into no calendar unit: they are doubled. 4,096 weeks are 78 years. */
const MAX_DOUBLING = 4096
const MAX_AMOUNT = 99_999

/**
 * The intervals that a series can be resampled to for a picture, shortest first, its own not among them. `anchor`: open time of
 * any 3d candle of the symbol, ms UTC; without it and a known listing date, 3d is not among them.
 */
function resampleLadder({ symbol, interval: source }: SeriesLabel, anchor?: number): TargetInterval[] {
  const hasAnchor = anchor !== undefined || hasListingDate(symbol)
  const { length } = parseTargetInterval(source)
  const doubled = 'ms' in length && DAY_MS % length.ms !== 0 ? doublings(source) : []
  return [...EXCHANGE_INTERVALS, ...LONGER, ...doubled]
    .map(name => ({ ...parseTargetInterval(name), anchor }))
    .filter(target => isMultiple(target, source) && (hasAnchor || !hasListingGrid(target)))
}

/** A length to compare intervals by, in ms: a month counts as 30 days. */
function approximateLength({ length }: TargetInterval): number {
  return 'ms' in length ? length.ms : length.months * 30 * DAY_MS
}

function doublings(source: string): string[] {
  const [amount, unit] = [Number(source.slice(0, -1)), source.slice(-1)]
  const names: string[] = []
  for (let factor = 2; factor <= MAX_DOUBLING && amount * factor <= MAX_AMOUNT; factor *= 2) {
    names.push(`${amount * factor}${unit}`)
  }
  return names
}
