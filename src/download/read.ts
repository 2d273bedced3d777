import { systemClock } from '../http/system-clock.js'
import type { KlineBatch } from '../klines/batch/kline-batch.js'
import type { KlineRow } from '../klines/columns.js'
import type { SeriesLabel } from '../klines/series.js'
import { parseRange, type TimeRange } from '../klines/time-range.js'
import type { KlinesRequest } from './download.js'
import { incomplete } from './errors.js'
import { DEFAULT_CONCURRENCY, openSource } from './open-source.js'
import { planSeries, type SeriesPlan } from './plan.js'
import { parseSelection } from './selection.js'
import type { WindowFailure, WindowResult, WindowSource } from './window-source.js'
import { settledStream, windowStream } from './window-stream.js'

/** A request for candles themselves. */
export interface KlineBatchesRequest extends KlinesRequest {
  /** Read the mirror alone; never touch the network. */
  readonly offline?: boolean | undefined
}

/** A row of the service and the series it belongs to. */
export interface SeriesRow {
  readonly series: SeriesLabel
  readonly row: KlineRow
}

/**
 * Candles as they come, a batch a window, series by series in order of time. Throws `incomplete` at the first window
 * that cannot be had (nothing is ever left out), and what `downloadKlines` throws. Leaving the loop ends the requests.
 */
export async function* klineBatches(request: KlineBatchesRequest): AsyncGenerator<KlineBatch> {
  const selection = parseSelection(request.symbols, request.intervals)
  const range = parseRange(request, request.now ?? systemClock.now())
  const source = await openSource(request, { memoryFallback: true })
  try {
    const plan = await planSeries(source, await source.series(selection), range)
    const windows = plan.series.flatMap(one => one.windows)
    const { concurrency = DEFAULT_CONCURRENCY, signal } = request
    yield* batchesOf(windowStream(source, windows, { concurrency, signal }), windows.length, range, source.advice)
  } finally {
    await source.close()
  }
}

/** The same candles row by row, as the service writes them: times in ms UTC, decimals as text. */
export async function* klineRows(request: KlineBatchesRequest): AsyncGenerator<SeriesRow> {
  for await (const batch of klineBatches(request)) {
    for (let row = 0; row < batch.length; row++) yield { series: batch.series, row: batch.row(row) }
  }
}

/**
 * The candles of a planned series that `settlePlan` has had before: no request is made, and each batch is good until the
 * next is asked for.
 */
export function settledBatches(
  source: WindowSource,
  { windows }: SeriesPlan,
  range: TimeRange,
  signal: AbortSignal | undefined,
): AsyncGenerator<KlineBatch> {
  return batchesOf(settledStream(source, windows, signal), windows.length, range, source.advice)
}

/** The candles of windows whose open time lies in the range. Empty stretches give no batch. */
async function* batchesOf(
  results: AsyncIterable<WindowResult | WindowFailure>,
  total: number,
  { fromTime = Number.NEGATIVE_INFINITY, toTime = Number.POSITIVE_INFINITY }: TimeRange,
  advice: string,
): AsyncGenerator<KlineBatch> {
  for await (const result of results) {
    if (result.status === 'failed') throw incomplete([result], total, advice)
    const batch = result.batch.slice(fromTime, toTime)
    if (batch.length > 0) yield batch
  }
}
