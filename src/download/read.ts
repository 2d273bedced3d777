import { GapCounter, type SeriesTotals } from '../klines/audit/gap-counter.js'
import { KlineBatch } from '../klines/batch/kline-batch.js'
import { type KlineNumbers, type KlineObject, type KlineRow, rowToNumbers, rowToObject } from '../klines/columns.js'
import { KlinesError } from '../klines/errors.js'
import { Resampler, sourceRange } from '../klines/resample/resampler.js'
import { parseTargetInterval, type TargetInterval } from '../klines/resample/target-interval.js'
import type { Series, SeriesLabel } from '../klines/series.js'
import type { RequestedRange, TimeRange } from '../klines/time-range.js'
import { checkGaps, completeUntil, coverPlan, shortSentences } from './coverage.js'
import type { KlinesRequest } from './download.js'
import { incomplete } from './errors.js'
import { toWarn } from './events.js'
import { planSeries, type SeriesPlan, type SeriesRange, withAnchor } from './plan.js'
import { checkRange, requestRange } from './request-range.js'
import { parseSelection } from './selection.js'
import { openSource } from './sources/open-source.js'
import type { WindowSource } from './sources/window-source.js'
import { streamWindows } from './window-stream.js'

/** Candles to read. */
export interface ReadRequest extends KlinesRequest {
  /** Read the mirror alone, without any request. */
  readonly offline?: boolean | undefined
}

/** Candles to read as batches or rows. */
export interface BatchRequest extends ReadRequest {
  /** Length of the candles to make of those that are read, such as `3h`, `2d` or `1q`. */
  readonly resample?: string | undefined
  /** With `resample`, keep incomplete candles at either end. */
  readonly partial?: boolean | undefined
  /**
   * Throw `incomplete` when a series lacks closed candles of the range, as `downloadKlines` does. That is known at the end: all
   * candles that are there have come before.
   */
  readonly failOnGaps?: boolean | undefined
}

/** A candle, and the series it belongs to. `Row` is what `as` of the request says. */
export interface SeriesRow<Row = KlineObject> {
  readonly series: SeriesLabel
  readonly row: Row
}

/**
 * Candles in batches of one window, series by series in order of time. Throws `incomplete` at the first window that cannot be
 * downloaded (nothing is left out silently), and what `downloadKlines` throws. Leaving the loop ends all requests. A series without
 * candles in the range comes as one batch without rows. With `resample` the batches have the longer candles that `exportKlines` writes,
 * and a series without any has no batch; `bad_option` when the candles do not fit into these.
 *
 * At the end, a `warning` event says of each series what it lacks at an end of the range that was named; with `failOnGaps` that is
 * `incomplete`. A loop that is left before hears nothing of it.
 *
 * @example
 * for await (const batch of klineBatches({ symbols: ['BTCUSDT'], intervals: ['1h'], last: '7d' })) {
 *   for (let row = 0; row < batch.length; row++) console.log(batch.openTime(row), batch.text(row, 4))
 * }
 */
export async function* klineBatches(request: BatchRequest): AsyncGenerator<KlineBatch> {
  const target = request.resample === undefined ? undefined : parseTargetInterval(request.resample)
  const selection = parseSelection(request)
  checkRange(request)
  const source = await openSource(request, { memory: new Map() })
  try {
    const range = await requestRange(request, source)
    const found = await source.contents.series(selection, range)
    const ranges = await Promise.all(found.map(series => toSeriesRange(source, series, range, target)))
    const readings = (await planSeries(source, ranges)).map(plan => new SeriesReading(plan, range, request))
    yield* readBatches(source, readings, request)
    checkCoverage(readings, { source, range, request })
  } finally {
    await source.close()
  }
}

/** The candles of a series that a range needs: the last longer one may end after it. */
async function toSeriesRange(
  source: WindowSource,
  series: Series,
  range: TimeRange,
  target: TargetInterval | undefined,
): Promise<SeriesRange> {
  if (target === undefined) return { series, range }
  const length = await withAnchor(source, series, target)
  return { series, range: sourceRange(series, length, range), resampleTo: length }
}

async function* readBatches(
  source: WindowSource,
  readings: readonly SeriesReading[],
  request: ReadRequest,
): AsyncGenerator<KlineBatch> {
  const left = [...readings]
  const plans = readings.map(({ plan }) => plan)
  for await (const { plan, batch } of readPlans(source, plans, request)) {
    // Those before it are over.
    while (left[0].plan !== plan) yield* left.shift()?.end(source) ?? []
    yield* left[0].add(batch)
  }
  for (const reading of left) yield* reading.end(source)
}

/** Where candles were read from, and what was requested. */
interface ReadScope {
  readonly source: WindowSource
  readonly range: RequestedRange
  readonly request: BatchRequest
}

/** Warns of series that lack candles of the range, when all is read. Throws `incomplete` for them with `failOnGaps`. */
function checkCoverage(readings: readonly SeriesReading[], { source, range, request }: ReadScope): void {
  const { partial, failOnGaps } = request
  const { named } = range
  if (named.from === undefined && named.to === undefined && !failOnGaps) return
  const series = readings.map(({ plan, totals }) => {
    return { ...plan.series, ...totals, coverage: coverPlan({ source, range, partial }, plan, totals) }
  })
  if (failOnGaps) checkGaps(series, range, source.info)
  for (const sentence of shortSentences(series, range, source.info)) toWarn(request)(sentence)
}

/** A series that is read, and resampled if that was requested. */
class SeriesReading {
  private readonly counter: GapCounter
  private readonly resampler: Resampler | undefined

  constructor(
    readonly plan: SeriesPlan,
    range: TimeRange,
    private readonly request: BatchRequest,
  ) {
    const { series, resampleTo: target, listedFrom: coveredFrom } = plan
    this.counter = new GapCounter(series)
    this.resampler = target && new Resampler(series, target, { range, partial: request.partial, coveredFrom })
  }

  /** Of all candles that were read; gaps within a batch are counted with `failOnGaps` alone, which takes time. */
  get totals(): SeriesTotals {
    return this.counter.totals
  }

  add(batch: KlineBatch): KlineBatch[] {
    const { length: candles, firstOpenTime, lastOpenTime } = batch
    if (this.request.failOnGaps) this.counter.add(batch)
    else this.counter.addTotals({ candles, firstOpenTime, lastOpenTime, gaps: 0, missing: 0 })
    return this.resampler ? toList(this.resampler.add(batch)) : [batch]
  }

  /** The last candle, or a batch without rows where there was none, so that no series is left out silently. */
  end(source: WindowSource): KlineBatch[] {
    if (this.resampler) return toList(this.resampler.end(completeUntil(source, this.plan.windows)))
    const { symbol, interval } = this.plan.series
    return this.totals.candles === 0 ? [KlineBatch.empty({ symbol, interval })] : []
  }
}

function toList(batch: KlineBatch | undefined): KlineBatch[] {
  return batch === undefined ? [] : [batch]
}

/** The batches of plans that have candles, in order. Throws `incomplete` at the first window that cannot be downloaded. */
async function* readPlans(
  source: WindowSource,
  plans: readonly SeriesPlan[],
  { concurrency, signal }: ReadRequest,
): AsyncGenerator<{ readonly plan: SeriesPlan; readonly batch: KlineBatch }> {
  const total = plans.reduce((sum, { windows }) => sum + windows.length, 0)
  for await (const { run, result } of streamWindows(source, plans, { concurrency, signal })) {
    if (result.status === 'failed') throw incomplete([result], total, source.info)
    if (result.batch.length > 0) yield { plan: run, batch: result.batch }
  }
}

/**
 * The same candles row by row, as objects with the names of the columns: times in ms UTC, decimals as text with all of their digits.
 * With `as: 'numbers'` the decimals are numbers, which have 15 to 17 digits: prices are exact, and of long volumes the last digits are
 * lost. With `as: 'arrays'` a row is the array of 12 that the service writes. Throws what `klineBatches` throws, and `bad_option`.
 *
 * @example
 * for await (const { row } of klineRows({ symbols: ['BTCUSDT'], intervals: ['1d'], last: '30d' })) {
 *   console.log(new Date(row.open_time), row.close)
 * }
 */
export function klineRows(request: BatchRequest & { readonly as?: 'objects' | undefined }): AsyncGenerator<SeriesRow>
export function klineRows(request: BatchRequest & { readonly as: 'numbers' }): AsyncGenerator<SeriesRow<KlineNumbers>>
export function klineRows(request: BatchRequest & { readonly as: 'arrays' }): AsyncGenerator<SeriesRow<KlineRow>>
export async function* klineRows(
  request: BatchRequest & { readonly as?: 'objects' | 'numbers' | 'arrays' | undefined },
): AsyncGenerator<SeriesRow<KlineObject | KlineNumbers | KlineRow>> {
  const form = request.as ?? 'objects'
  if (!Object.hasOwn(ROW_FORMS, form)) {
    throw new KlinesError('bad_option', `\`as\` is ${form}. Expected objects, numbers or arrays.`)
  }
  const toRow = ROW_FORMS[form]
  for await (const batch of klineBatches(request)) {
    for (let index = 0; index < batch.length; index++) yield { series: batch.series, row: toRow(batch.row(index)) }
  }
}

const ROW_FORMS = { objects: rowToObject, numbers: rowToNumbers, arrays: (row: KlineRow) => row }
