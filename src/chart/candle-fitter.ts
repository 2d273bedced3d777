import { addLengths, countLengths, EXCHANGE_INTERVALS } from '../candles/intervals.js'
import type { SeriesLabel } from '../candles/series.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { Resampler } from '../rows/resampler.js'
import { hasListingGrid, isMultiple, parseTargetInterval, type TargetInterval } from '../rows/target-interval.js'
import { Kernel } from '../rows/wasm/kernel.js'

/** A candle to draw. Decimals are the exact text of the source: drawing turns them into numbers. All times are ms UTC. */
export type ChartCandle = { readonly openTime: number } & Readonly<
  Record<'open' | 'high' | 'low' | 'close' | 'volume', string>
>

/** The place of one candle on the time axis. A candle that is missing keeps its place. */
export interface Slot {
  /** When the candle opens, or would open. */
  readonly openTime: number
  readonly candle: ChartCandle | undefined
}

export interface FittedCandles<S extends SeriesLabel = SeriesLabel> {
  readonly series: S
  /** The length of the candles as drawn, such as `1d` or `1q`. */
  readonly interval: string
  /** The interval of the source when the candles are resampled. */
  readonly resampledFrom: string | undefined
  /** In order of time, one step after the other. The first and the last one have a candle; empty without candles. */
  readonly slots: readonly Slot[]
  /** Numbers of slots with a candle, and without one. */
  readonly candles: number
  readonly missing: number
  /** Open times of the first and the last candle of the source that was drawn; undefined without candles. */
  readonly firstTime: number | undefined
  readonly lastTime: number | undefined
  /** What a range lacks at its ends, for the title: `120 short at the end`. */
  readonly short?: string | undefined
}

export interface FitOptions {
  /** At least 1. */
  readonly maxCandles: number
  /** All candles, resampled if they are too many, or only the newest ones. */
  readonly keep: 'all' | 'newest'
  /** The shortest length. Default: the interval of the series. */
  readonly resample?: TargetInterval | undefined
  /** Open time of any 3d candle of the symbol: without it nothing shorter is resampled to 3d. */
  readonly anchor?: number | undefined
}

/** Candles of one length that may fit. */
interface Candidate {
  readonly target: TargetInterval
  /** Undefined for the candles of the series. */
  readonly resampler: Resampler | undefined
  slotCount: number
  candles: ChartCandle[]
}

/**
 * Fits the candles of one series into a picture, in one pass and in memory for a few pictures. Missing candles take room, too. With
 * `keep: 'all'`, candles that do not fit are resampled exactly to the shortest interval of `resampleLadder` for which they do.
 */
export class CandleFitter<S extends SeriesLabel> {
  /** The lengths that may still fit, shortest first. */
  private candidates: Candidate[] = []
  private firstTime: number | undefined
  private lastTime: number | undefined

  constructor(
    private readonly series: S,
    private readonly options: FitOptions,
  ) {}

  /** Adds the next candles; batches come in order of time. Throws `bad_option` when the candles do not fit into `resample`. */
  add(batch: KlineBatch): void {
    if (batch.length === 0) return
    if (this.firstTime === undefined) this.candidates = this.buildCandidates(batch.openTime(0))
    this.firstTime ??= batch.openTime(0)
    this.lastTime = batch.openTime(batch.length - 1)
    this.take(resampler => (resampler ? resampler.add(batch) : batch))
  }

  /** The candles of the picture. The last one may be incomplete: a picture ends with the newest price. */
  end(): FittedCandles<S> {
    this.take(resampler => resampler?.end())
    const { series, lastTime, options } = this
    const candidate = this.candidates.at(0)
    const slots = candidate ? newestSlots(candidate, options.maxCandles) : []
    const candles = slots.filter(slot => slot.candle !== undefined).length
    const interval = (candidate?.target ?? options.resample ?? parseTargetInterval(series.interval)).name
    const resampledFrom = interval === series.interval ? undefined : series.interval
    const firstTime = this.firstTime && Math.max(this.firstTime, slots[0].openTime)
    return { series, interval, resampledFrom, slots, candles, missing: slots.length - candles, firstTime, lastTime }
  }

  private buildCandidates(firstTime: number): Candidate[] {
    const { series, options } = this
    const { resample } = options
    const source = parseTargetInterval(series.interval)
    const shortest = resample ?? source
    const anchor = options.anchor ?? resample?.anchor ?? (hasListingGrid(source) ? firstTime : undefined)
    const ladder = options.keep === 'newest' ? [] : resampleLadder(series, anchor)
    const isLonger = ({ length }: TargetInterval) => addLengths(length, 0) > addLengths(shortest.length, 0)
    const targets = [shortest, ...ladder.filter(isLonger)]
    const kernel = new Kernel()
    return targets.map(target => {
      const resampler = target === source ? undefined : new Resampler(series, target, { partial: true }, kernel)
      return { target, resampler, slotCount: 0, candles: [] }
    })
  }

  /** Gives each candidate its next candles, and drops those before the first one that still fits. */
  private take(next: (resampler: Resampler | undefined) => KlineBatch | undefined): void {
    const { maxCandles } = this.options
    for (const candidate of this.candidates) addCandles(candidate, next(candidate.resampler), maxCandles)
    // Without one that fits, the last one stays: there is no longer interval to resample to.
    this.candidates = this.candidates.slice(this.candidates.findIndex(({ slotCount }) => slotCount <= maxCandles))
  }
}

function addCandles(candidate: Candidate, batch: KlineBatch | undefined, maxCandles: number): void {
  for (let row = 0; batch && row < batch.length; row++) {
    const last = candidate.candles.at(-1)
    candidate.slotCount += last ? slotsBetween(candidate.target, last, batch.openTime(row)) : 1
    if (candidate.candles.length >= 2 * maxCandles) candidate.candles = candidate.candles.slice(-maxCandles)
    candidate.candles.push(readCandle(batch, row))
  }
}

function readCandle(batch: KlineBatch, row: number): ChartCandle {
  const [open, high, low, close, volume] = [1, 2, 3, 4, 5].map(column => batch.text(row, column))
  return { openTime: batch.openTime(row), open, high, low, close, volume }
}

/** The newest slots, at most `max`; the first one has a candle. */
function newestSlots({ candles, target }: Candidate, max: number): Slot[] {
  const slots: Slot[] = []
  for (let index = candles.length - 1; index >= 0 && slots.length < max; index--) {
    const candle = candles[index]
    const later = candles.at(index + 1)
    const missing = later ? slotsBetween(target, candle, later.openTime) - 1 : 0
    if (slots.length + missing >= max) break
    for (let step = missing; step >= 1; step--)
      slots.push({ openTime: addLengths(target.length, candle.openTime, step), candle: undefined })
    slots.push({ openTime: candle.openTime, candle })
  }
  return slots.reverse()
}

const LONGER = ['2M', '1q', '6M', '1y', '2y', '5y', '10y', '20y', '50y', '100y']
/** 3d and 1w fit into no calendar unit: they are doubled. 4,096 weeks are 78 years. */
const DOUBLINGS = Array.from({ length: 12 }, (_, power) => 2 ** (power + 1))

/** The intervals that a series can be resampled to, shortest first; 3d only where its grid is known. */
function resampleLadder({ interval: source }: SeriesLabel, anchor?: number): TargetInterval[] {
  const doubled = { '3d': DOUBLINGS.map(factor => `${3 * factor}d`), '1w': DOUBLINGS.map(factor => `${factor}w`) }
  return [...EXCHANGE_INTERVALS, ...LONGER, ...(doubled[source as keyof typeof doubled] ?? [])]
    .map(name => ({ ...parseTargetInterval(name), anchor }))
    .filter(target => isMultiple(target, source) && (anchor !== undefined || !hasListingGrid(target)))
}

/** At least 1, also where a candle off the grid is closer. */
function slotsBetween({ length }: TargetInterval, { openTime }: ChartCandle, laterOpenTime: number): number {
  return Math.max(1, countLengths(length, openTime, laterOpenTime))
}
