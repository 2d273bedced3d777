import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { COLUMNS, type KlineObject, type KlineRow } from '../klines/columns.js'
import { checkSameSeries, resampleBatches } from '../klines/resample/resample.js'
import { READ_RESAMPLED, type ResampledReader, type Resampling } from '../klines/resample/resampled-reader.js'
import { sourceRange } from '../klines/resample/resampler.js'
import { checkMultiple } from '../klines/resample/target-interval.js'
import type { Series, SeriesLabel } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { withAnchor } from './anchored-target.js'
import { completeUntil } from './complete-until.js'
import type { KlinesRequest } from './download.js'
import { incomplete } from './errors.js'
import { type Plan, planSeries } from './plan.js'
import { checkRange, requestRange } from './request-range.js'
import { parseSelection } from './selection.js'
import { openSource } from './sources/open-source.js'
import type { WindowSource } from './sources/window-source.js'
import { type StreamOptions, streamWindows } from './window-stream.js'

/** Candles to read. */
export interface ReadRequest extends KlinesRequest {
  /** Read the mirror alone, without any request. */
  readonly offline?: boolean | undefined
}

/** A candle, and the series it belongs to. `Row` is an array as the service writes it, or an object. */
export interface SeriesRow<Row = KlineRow> {
  readonly series: SeriesLabel
  readonly row: Row
}

/**
 * Candles in batches of one window, series by series in order of time. Throws `incomplete` at the first window that cannot be
 * downloaded (nothing is left out silently), and what `downloadKlines` throws. Leaving the loop ends all requests.
 * `resample` makes longer candles of them.
 *
 * @example
 * for await (const batch of klineBatches({ symbols: ['BTCUSDT'], intervals: ['1h'], last: '7d' })) {
 *   for (let row = 0; row < batch.length; row++) console.log(batch.openTime(row), batch.text(row, 4))
 * }
 */
export function klineBatches(request: ReadRequest): AsyncGenerator<KlineBatch> {
  let isBegun = false
  async function* read() {
    isBegun = true
    yield* readBatches(request)
  }
  const reader: ResampledReader = {
    [READ_RESAMPLED]: resampling => (isBegun ? undefined : readBatches(request, resampling)),
  }
  return Object.assign(read(), reader)
}

async function* readBatches(request: ReadRequest, resampling?: Resampling): AsyncGenerator<KlineBatch> {
  const selection = parseSelection(request)
  checkRange(request)
  if (resampling) checkMultiple(resampling.target, resampling.source.interval)
  const source = await openSource(request, { memory: new Map() })
  try {
    const range = await requestRange(request, source)
    const found = await source.contents.series(selection, range)
    if (resampling) yield* readResampled(source, found, range, request, resampling)
    else {
      const ranges = found.map(series => ({ series, range }))
      yield* readPlan(source, await planSeries(source, ranges, range), { ...request, borrow: false })
    }
  } finally {
    await source.close()
  }
}

/** The candles of an export with `resample`: those that open in the range, of which the last one may end after it. */
async function* readResampled(
  source: WindowSource,
  found: readonly Series[],
  range: TimeRange,
  request: ReadRequest,
  { source: label, target: length, options }: Resampling,
): AsyncGenerator<KlineBatch> {
  for (const series of found) checkSameSeries(series, label)
  for (const series of found) {
    const target = await withAnchor(source, series, length)
    const plan = await planSeries(source, [{ series, range: sourceRange(series, target, range) }], range)
    const [{ listedFrom = -Infinity, windows }] = plan.series
    const coveredFrom = options.coveredFrom ?? Math.max(range.fromTime, listedFrom)
    const known = { ...options, range: options.range ?? range, coveredFrom }
    yield* resampleBatches(readPlan(source, plan, request), label, target, known, () => completeUntil(source, windows))
  }
}

/** The windows of a plan that have candles. Throws `incomplete` at the first one that cannot be downloaded. */
async function* readPlan(source: WindowSource, { series }: Plan, options: StreamOptions): AsyncGenerator<KlineBatch> {
  const total = series.reduce((sum, { windows }) => sum + windows.length, 0)
  const { concurrency, signal, borrow } = options
  for await (const { result } of streamWindows(source, series, { concurrency, signal, borrow })) {
    if (result.status === 'failed') throw incomplete([result], total, source.info)
    if (result.batch.length > 0) yield result.batch
  }
}

/**
 * The same candles row by row: arrays as the service writes them (times in ms UTC, decimals as text), or with
 * `as: 'objects'` objects with the names of the columns. Throws what `klineBatches` throws.
 *
 * @example
 * for await (const { row } of klineRows({ symbols: ['BTCUSDT'], intervals: ['1d'], last: '30d', as: 'objects' })) {
 *   console.log(new Date(row.open_time), row.close)
 * }
 */
export function klineRows(request: ReadRequest & { readonly as: 'objects' }): AsyncGenerator<SeriesRow<KlineObject>>
export function klineRows(request: ReadRequest & { readonly as?: 'arrays' | undefined }): AsyncGenerator<SeriesRow>
export async function* klineRows(
  request: ReadRequest & { readonly as?: 'arrays' | 'objects' | undefined },
): AsyncGenerator<SeriesRow<KlineRow | KlineObject>> {
  const asObject = (row: KlineRow) =>
    Object.fromEntries(COLUMNS.map((name, column) => [name, row[column]])) as unknown as KlineObject
  for await (const batch of klineBatches(request)) {
    for (let index = 0; index < batch.length; index++) {
      const row = batch.row(index)
      yield { series: batch.series, row: request.as === 'objects' ? asObject(row) : row }
    }
  }
}
