import { type BatchOrigin, KlineBatch } from '../klines/batch/kline-batch.js'
import { type KlineNumbers, type KlineObject, type KlineRow, rowToNumbers, rowToObject } from '../klines/columns.js'
import { KlinesError } from '../klines/errors.js'
import { resample } from '../klines/resample/resample.js'
import { parseTargetInterval } from '../klines/resample/target-interval.js'
import type { SeriesLabel } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { completeUntil } from './coverage.js'
import type { KlinesRequest } from './download.js'
import { incomplete, restated } from './errors.js'
import { planSeries, type SeriesPlan } from './plan.js'
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
 * @example
 * for await (const batch of klineBatches({ symbols: ['BTCUSDT'], intervals: ['1h'], last: '7d' })) {
 *   for (let row = 0; row < batch.length; row++) console.log(batch.openTime(row), batch.text(row, 4))
 * }
 */
export async function* klineBatches(request: BatchRequest): AsyncGenerator<KlineBatch> {
  if (request.resample === undefined) return yield* readBatches(request)
  const target = parseTargetInterval(request.resample)
  const batches = readBatches(request)
  try {
    let next = await batches.next()
    while (!next.done) {
      const { symbol, interval } = next.value.series
      const ofSeries = async function* () {
        for (; !next.done && isOf(next.value, symbol, interval); next = await batches.next()) yield next.value
      }
      yield* resample(ofSeries(), { symbol, interval }, target, { partial: request.partial })
    }
  } finally {
    await batches.return(undefined)
  }
}

function isOf({ series }: KlineBatch, symbol: string, interval: string): boolean {
  return series.symbol === symbol && series.interval === interval
}

async function* readBatches(request: ReadRequest): AsyncGenerator<KlineBatch> {
  const selection = parseSelection(request)
  checkRange(request)
  yield* withSource(request, async function* (source) {
    const range = await requestRange(request, source)
    const found = await source.contents.series(selection, range)
    const ranges = found.map(series => ({ series, range }))
    const series = await planSeries(source, ranges)
    const left = series.map(plan => ({ plan, origin: new ReadOrigin(request, plan) }))
    const endFirst = () => left.shift()?.origin.end(source)
    for await (const { plan, batch } of readPlans(source, series, request)) {
      // Those before it are over.
      while (left[0].plan !== plan) yield* endFirst() ?? []
      yield left[0].origin.add(batch)
    }
    while (left.length > 0) yield* endFirst() ?? []
  })
}

/** What is known of a series that is read. */
class ReadOrigin implements BatchOrigin {
  readonly range: TimeRange
  readonly coveredFrom: number
  firstOpenTime: number | undefined
  lastOpenTime: number | undefined
  private latest: number | undefined
  private completeUntil = Number.NEGATIVE_INFINITY

  constructor(
    private readonly request: ReadRequest,
    private readonly plan: SeriesPlan,
  ) {
    this.range = plan.range
    this.coveredFrom = Math.max(plan.range.fromTime, plan.listedFrom ?? Number.NEGATIVE_INFINITY)
  }

  add(batch: KlineBatch): KlineBatch {
    this.firstOpenTime ??= batch.firstOpenTime
    this.latest = batch.lastOpenTime
    return batch.withOrigin(this)
  }

  /** To be called when all is read. Returns a batch without rows where there was none, so that no series is left out silently. */
  end(source: WindowSource): KlineBatch[] {
    this.lastOpenTime = this.latest
    this.completeUntil = completeUntil(source, this.plan.windows)
    const { symbol, interval } = this.plan.series
    return this.latest === undefined ? [KlineBatch.empty({ symbol, interval }, this)] : []
  }

  async threeDayAnchor(): Promise<number | undefined> {
    const source = await openSource(this.request, { memory: new Map() })
    try {
      return await source.contents.threeDayAnchor(this.plan.series.symbol)
    } finally {
      await source.close()
    }
  }

  async *readOn(toTime: number): AsyncGenerator<KlineBatch, number> {
    const { range, plan, request, completeUntil: until } = this
    if (toTime <= range.toTime) return until
    return yield* withSource(request, async function* (source) {
      const [rest] = await planSeries(source, [{ series: plan.series, range: { fromTime: range.toTime, toTime } }])
      for await (const { batch } of readPlans(source, [rest], request)) yield batch
      if (plan.windows.length > 0 && until === Number.NEGATIVE_INFINITY) return until
      const known = new Set(plan.windows.map(({ startDate }) => startDate))
      const later = rest.windows.filter(({ startDate }) => !known.has(startDate))
      return completeUntil(source, later, until)
    })
  }
}

/** Opens a source for as long as what it is used for goes on. */
async function* withSource<Result>(
  request: ReadRequest,
  use: (source: WindowSource) => AsyncGenerator<KlineBatch, Result>,
): AsyncGenerator<KlineBatch, Result> {
  const source = await openSource(request, { memory: new Map() })
  try {
    return yield* use(source)
  } finally {
    await source.close()
  }
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
    if (result.refused) throw restated([result])
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
