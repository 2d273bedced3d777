import { type BatchOrigin, KlineBatch } from '../klines/batch/kline-batch.js'
import { COLUMNS, type KlineObject, type KlineRow } from '../klines/columns.js'
import type { SeriesLabel } from '../klines/series.js'
import type { TimeRange } from '../klines/time-range.js'
import { completeUntil } from './complete-until.js'
import type { KlinesRequest } from './download.js'
import { incomplete } from './errors.js'
import { type Plan, planSeries, type SeriesPlan } from './plan.js'
import { checkRange, requestRange } from './request-range.js'
import { parseSelection } from './selection.js'
import type { FileMemory } from './sources/cache-writer.js'
import { openSource } from './sources/open-source.js'
import type { WindowSource } from './sources/window-source.js'
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
 * downloaded (nothing is left out silently), and what `downloadKlines` throws. Leaving the loop ends all requests. A series without
 * candles in the range comes as one batch without rows. `resample` makes longer candles of them.
 *
 * @example
 * for await (const batch of klineBatches({ symbols: ['BTCUSDT'], intervals: ['1h'], last: '7d' })) {
 *   for (let row = 0; row < batch.length; row++) console.log(batch.openTime(row), batch.text(row, 4))
 * }
 */
export async function* klineBatches(request: ReadRequest): AsyncGenerator<KlineBatch> {
  const selection = parseSelection(request)
  checkRange(request)
  const memory = new Map()
  const source = await openSource(request, { memory })
  try {
    const range = await requestRange(request, source)
    const found = await source.contents.series(selection, range)
    const plan = await planSeries(
      source,
      found.map(series => ({ series, range })),
      range,
    )
    for (const series of plan.series) {
      const origin = new ReadOrigin(request, source, series, memory)
      for await (const batch of readSeries(source, series, plan, request)) yield origin.add(batch)
      const empty = origin.end()
      if (empty) yield empty
    }
  } finally {
    await source.close()
  }
}

/** What is known of a series that is read. */
class ReadOrigin implements BatchOrigin {
  readonly range: TimeRange
  readonly coveredFrom: number
  firstOpenTime: number | undefined
  lastOpenTime: number | undefined
  private latest: number | undefined

  /** `memory`: what the mirror could not store. */
  constructor(
    private readonly request: ReadRequest,
    private readonly source: WindowSource,
    private readonly plan: SeriesPlan,
    private readonly memory: FileMemory,
  ) {
    this.range = plan.range
    this.coveredFrom = Math.max(plan.range.fromTime, plan.listedFrom ?? -Infinity)
  }

  add(batch: KlineBatch): KlineBatch {
    this.firstOpenTime ??= batch.firstOpenTime
    this.latest = batch.lastOpenTime
    return batch.withOrigin(this)
  }

  /** To be called when all is read. Returns a batch without rows where there was none, so that no series is left out silently. */
  end(): KlineBatch | undefined {
    this.lastOpenTime = this.latest
    const { symbol, interval } = this.plan.series
    return this.latest === undefined ? KlineBatch.empty({ symbol, interval }, this) : undefined
  }

  async threeDayAnchor(): Promise<number | undefined> {
    return this.source.contents.threeDayAnchor(this.plan.series.symbol)
  }

  async *readOn(toTime: number): AsyncGenerator<KlineBatch, number> {
    const { source, range, plan, request, memory } = this
    // The mirror tells it, also when the source is closed.
    if (toTime <= range.toTime) return completeUntil(source, plan.windows)
    const next = await openSource(request, { memory })
    try {
      const rest = { series: plan.series, range: { fromTime: range.toTime, toTime } }
      const more = await planSeries(next, [rest], rest.range)
      const windows = new Map([...plan.windows, ...more.series[0].windows].map(window => [window.startDate, window]))
      yield* readSeries(next, more.series[0], more, request)
      return completeUntil(next, [...windows.values()])
    } finally {
      await next.close()
    }
  }
}

/** The batches of one series of a plan that have candles. Throws `incomplete` at the first window that cannot be downloaded. */
async function* readSeries(
  source: WindowSource,
  one: SeriesPlan,
  { series }: Plan,
  { concurrency, signal }: ReadRequest,
): AsyncGenerator<KlineBatch> {
  const total = series.reduce((sum, { windows }) => sum + windows.length, 0)
  for await (const { result } of streamWindows(source, [one], { concurrency, signal, borrow: false })) {
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
