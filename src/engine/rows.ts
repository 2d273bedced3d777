import { type KlineNumbers, type KlineObject, type KlineRow, rowToNumbers, rowToObject } from '../candles/columns.js'
import { KlinesError } from '../candles/errors.js'
import type { SeriesLabel } from '../candles/series.js'
import { KlineBatch } from '../rows/kline-batch.js'
import { shortSentences } from './coverage.js'
import { type PlanRequest, planRequest } from './plan.js'
import { openWindows, readSeries } from './read.js'
import { checkGone, type ReportOptions, Tally } from './report.js'
import { openRun, type SourceOptions } from './run.js'

/** Candles to read, and where they come from. */
export interface ReadRequest extends PlanRequest, SourceOptions, ReportOptions {
  /** Read the mirror alone, without any request. */
  readonly offline?: boolean | undefined
}

/** A candle, and the series it belongs to. `Row` is what `as` of the request says. */
export interface SeriesRow<Row = KlineObject> {
  readonly series: SeriesLabel
  readonly row: Row
}

/**
 * Candles in batches of one window, series by series in order of time; with `resample`, the longer candles that `exportKlines` writes.
 * A series without candles in the range comes as one batch without rows. Throws `incomplete` at the first window that cannot be
 * downloaded or read (nothing is left out silently), and what `downloadKlines` throws. Leaving the loop ends all requests.
 *
 * At the end, a `warning` event says of each series what it lacks at an end of the range that was named; with `failOnGaps` that is
 * `incomplete`. A loop that is left before hears nothing of it.
 *
 * @example
 * for await (const batch of klineBatches({ symbols: ['BTCUSDT'], intervals: ['1h'], last: '7d' })) {
 *   for (let row = 0; row < batch.length; row++) console.log(batch.openTime(row), batch.text(row, 4))
 * }
 */
export async function* klineBatches(request: ReadRequest): AsyncGenerator<KlineBatch> {
  const run = await openRun(request)
  try {
    const plan = await planRequest(request, run)
    const tally = new Tally(plan, run)
    const windows = openWindows(run, plan.series, { ownMemory: true })
    try {
      for (const one of plan.series) {
        let rows = 0
        for await (const batch of readSeries(windows, one, tally, { ...run, partial: request.partial })) {
          rows += batch.length
          if (batch.length > 0) yield batch
        }
        if (tally.hasFailed) tally.report()
        if (rows === 0) yield KlineBatch.empty(one.label)
      }
    } finally {
      await windows.return(undefined)
    }
    const { series, range } = tally.report(request, false, true)
    for (const sentence of shortSentences(series, range)) run.warn(sentence)
    checkGone(plan, run)
  } finally {
    await run.close()
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
export function klineRows(request: ReadRequest & { readonly as?: 'objects' | undefined }): AsyncGenerator<SeriesRow>
export function klineRows(request: ReadRequest & { readonly as: 'numbers' }): AsyncGenerator<SeriesRow<KlineNumbers>>
export function klineRows(request: ReadRequest & { readonly as: 'arrays' }): AsyncGenerator<SeriesRow<KlineRow>>
export async function* klineRows(
  request: ReadRequest & { readonly as?: keyof typeof ROW_FORMS | undefined },
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
