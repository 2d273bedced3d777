import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { COLUMNS, type KlineObject, type KlineRow } from '../klines/columns.js'
import type { SeriesLabel } from '../klines/series.js'
import type { KlinesRequest } from './download.js'
import { incomplete } from './errors.js'
import { planSeries } from './plan.js'
import { checkRange, requestRange } from './request-range.js'
import { parseSelection } from './selection.js'
import { openSource } from './sources/open-source.js'
import { streamWindows } from './window-stream.js'

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
 *
 * @example
 * for await (const batch of klineBatches({ symbols: ['BTCUSDT'], intervals: ['1h'], last: '7d' })) {
 *   for (let row = 0; row < batch.length; row++) console.log(batch.openTime(row), batch.text(row, 4))
 * }
 */
export async function* klineBatches(request: ReadRequest): AsyncGenerator<KlineBatch> {
  const selection = parseSelection(request)
  checkRange(request)
  const source = await openSource(request, { memory: new Map() })
  try {
    const range = await requestRange(request, source)
    const ranges = (await source.series(selection, range)).map(series => ({ series, range }))
    const { series } = await planSeries(source, ranges, range)
    const total = series.reduce((sum, { windows }) => sum + windows.length, 0)
    const { concurrency, signal } = request
    for await (const { result } of streamWindows(source, series, { concurrency, signal, borrow: false })) {
      if (result.status === 'failed') throw incomplete([result], total, source)
      if (result.batch.length > 0) yield result.batch
    }
  } finally {
    await source.close()
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
