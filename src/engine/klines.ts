import { type KlineObject, type KlineRow, rowToNumbers, rowToObject } from '../candles/columns.js'
import type { Series, SeriesLabel, WindowRef } from '../candles/series.js'
import type { TimeRange } from '../candles/time-range.js'
import { inTurns } from '../mirror/turns.js'
import { checkNames } from '../options.js'
import { shortSentences } from '../rows/coverage.js'
import { Fingerprinter, reportFingerprints, type SeriesFingerprint } from '../rows/fingerprint.js'
import { KlineBatch } from '../rows/kline-batch.js'
import { Kernel } from '../rows/wasm/kernel.js'
import { type FollowRequest, openFollow } from './follow.js'
import { checkAge } from './no-candles.js'
import { type PlanRequest, planRequest, planUpdate } from './plan.js'
import { readPlan } from './read.js'
import { missingWindows } from './refresh.js'
import { checkGone, type DownloadReport, type ReportOptions, Tally } from './report.js'
import { openRun, type Plan, type Run, type SourceOptions, sourceOf, withRun } from './run.js'

/** Which candles to download. */
export interface DownloadRequest extends PlanRequest, SourceOptions, ReportOptions {}

/** Which candles to read. */
export interface ReadRequest extends DownloadRequest {
  /** Read the mirror alone, without any request. */
  readonly offline?: boolean | undefined
}

interface UpdateRequest extends SourceOptions, ReportOptions {
  /** `no_candles` when the newest candle of an interval, over all its series, closed longer ago than this, such as `2d`. */
  readonly maxAge?: string | undefined
}

/**
 * Downloads every window of a range that the mirror lacks or that can still change. Throws `incomplete` when a window could not be
 * downloaded (the others are in the mirror then), `no_candles`, `unreachable`, `rate_limited` and `mirror_unusable`.
 *
 * @example
 * const { series } = await downloadKlines({ symbols: ['BTCUSDT'], intervals: ['1d'], last: '1y' })
 */
export function downloadKlines(request: DownloadRequest): Promise<DownloadReport> {
  return withRun(openRun(request), async run => downloadPlan(await planRequest(request, run), run, request))
}

/** Downloads what every series of a mirror lacks or can still change, from its first window to now. Throws what `downloadKlines` throws. */
export function updateKlines(request: UpdateRequest = {}): Promise<DownloadReport> {
  return withRun(openRun(request), async run => {
    const plan = await planUpdate(run, request)
    const report = await downloadPlan(plan, run, request)
    if (request.maxAge !== undefined) checkAge(plan, run, request.maxAge)
    return report
  })
}

/** Makes all windows of a plan current, or reads them, and counts their candles. */
export async function downloadPlan(
  plan: Plan,
  run: Run,
  options: ReportOptions = {},
  forExport = false,
): Promise<DownloadReport> {
  const tally = new Tally(plan, run)
  const isNamed = options.fingerprint && !forExport
  // An export reads each window here too: what is damaged is downloaded again before a byte is written.
  const countOnly = !forExport && !isNamed
  const found: (SeriesFingerprint | undefined)[] = []
  for await (const [{ series }, batches] of readPlan(run, tally, { asIs: true, countOnly })) {
    const fingerprinter = new Fingerprinter(series)
    for await (const batch of batches) if (isNamed) fingerprinter.add(batch)
    found.push(fingerprinter.finish())
  }
  const report = await tally.report(options, forExport)
  if (!forExport) checkGone(plan, run)
  return isNamed ? { ...report, fingerprints: reportFingerprints(found.flatMap(one => one ?? [])) } : report
}

export interface DryRunReport {
  readonly baseUrl: string | undefined
  readonly mirror: string
  readonly offline: boolean
  readonly range: TimeRange
  /** The windows of each series: `open` ones would be revalidated, `missing` ones downloaded; `cached` ones need no request. */
  readonly series: (Series & { readonly windows: Record<'total' | 'cached' | 'open' | 'missing', number> })[]
  readonly requests: number
  readonly limitMs: number
  readonly files: string[]
  /** The parts of a lake that `prune` would remove. */
  readonly removed: string[]
}

export function dryRunUpdate(request: UpdateRequest): Promise<DryRunReport> {
  return withRun(openRun(request, { readOnly: true }), async run => describePlan(await planUpdate(run, request), run))
}

export async function describePlan(plan: Plan, run: Run): Promise<DryRunReport> {
  const { mirror, source, refresh, signal } = run
  const kernel = new Kernel()
  let [requests, limitMs] = [0, 0]
  const series: DryRunReport['series'] = []
  for (const one of plan.series) {
    const missing = missingWindows(run, one)
    const corrupt: WindowRef[] = []
    const open: WindowRef[] = []
    const settled = mirror.settled(one.series)
    for await (const window of inTurns(one.windows, signal)) {
      if (!refresh && settled(window)) continue
      const read = mirror.read(window, kernel)
      if (read.state === 'corrupt') corrupt.push(window)
      if (!source || read.state !== 'cached') continue
      if (refresh || mirror.state(window, read, mirror.factsOf(window, read)) === 'open') open.push(window)
    }
    const cost = source?.cost(missing, [...corrupt, ...open])
    requests += cost?.requests ?? 0
    limitMs += cost?.limitMs ?? 0
    const counts = { total: one.windows.length, missing: missing.length + corrupt.length, open: open.length }
    series.push({ ...one.series, windows: { ...counts, cached: counts.total - counts.missing - counts.open } })
  }
  const place = { baseUrl: sourceOf(run), mirror: mirror.root, offline: source === undefined }
  return { ...place, range: plan.range, series, requests, limitMs, files: [], removed: [] }
}

/** A candle, and its series. */
export interface SeriesRow<Row = KlineObject> {
  readonly series: SeriesLabel
  readonly row: Row
}

/**
 * Candles in batches of one window, series by series in order of time; a series without candles comes as one batch without rows. Throws
 * `incomplete` at the first window that cannot be downloaded or read, and what `downloadKlines` throws. At the end, a `warning` event says
 * of each series what it lacks at an end of the range that was named; with `failOnGaps` that is `incomplete`.
 */
export async function* klineBatches(request: ReadRequest): AsyncGenerator<KlineBatch> {
  checkNames(request)
  const run = await openRun(request)
  try {
    const plan = await planRequest(request, run)
    const tally = new Tally(plan, run)
    for await (const [{ label }, batches] of readPlan(run, tally, { ownMemory: true, partial: request.partial })) {
      let rows = 0
      for await (const batch of batches) {
        rows += batch.length
        if (batch.length > 0) yield batch
      }
      tally.checkWindows()
      if (rows === 0) yield KlineBatch.empty(label)
    }
    const { series, range } = await tally.report(request, false, true)
    for (const sentence of shortSentences(series, range)) run.warn(sentence, true)
    checkGone(plan, run)
  } finally {
    await run.close()
  }
}

const ROW_FORMS = { objects: rowToObject, numbers: rowToNumbers, arrays: (row: KlineRow) => row }
type RowForms = { [Form in keyof typeof ROW_FORMS]: ReturnType<(typeof ROW_FORMS)[Form]> }

/**
 * The same candles row by row, as objects: times in ms UTC, decimals as text with all of their digits. With `as: 'numbers'` decimals are
 * numbers, which lose the last digits of long volumes; with `as: 'arrays'` a row is the array of 12 that the service writes.
 *
 * @example
 * for await (const { row } of klineRows({ symbols: ['BTCUSDT'], intervals: ['1d'], last: '30d' })) {
 *   console.log(new Date(row.open_time), row.close)
 * }
 */
export function klineRows<Form extends keyof RowForms = 'objects'>(
  request: ReadRequest & { readonly as?: Form | undefined },
): AsyncGenerator<SeriesRow<RowForms[Form]>> {
  return rowsOf(klineBatches(request), request)
}

/**
 * The candles of a range row by row, and then each one as it closes, until the loop is left or `signal` aborts: of the exchange 15 s after
 * its close, of another service when its tree has it, with `offline` when another process has written it. Without `from` and `last` they
 * begin with the next one. Each comes once, in order within its series; a slow loop loses none. While the service cannot be reached they
 * wait, with a `warning` event. Throws what `klineRows` throws.
 *
 * @example
 * for await (const { series, row } of followKlines({ symbols: ['BTCUSDT'], intervals: ['1m'], last: '1h', baseUrl: 'binance' })) {
 *   console.log(series.symbol, new Date(row.open_time), row.close)
 * }
 */
export async function* followKlines<Form extends keyof RowForms = 'objects'>(
  request: FollowRequest & { readonly as?: Form | undefined },
): AsyncGenerator<SeriesRow<RowForms[Form]>> {
  const { batches } = await openFollow(request)
  yield* rowsOf(batches, request)
}

async function* rowsOf<Form extends keyof RowForms>(
  batches: AsyncGenerator<KlineBatch>,
  { as, signal }: Pick<SourceOptions, 'signal'> & { readonly as?: Form | undefined },
) {
  const toRow = ROW_FORMS[as ?? 'objects'] as (row: KlineRow) => RowForms[Form]
  for await (const batch of batches) {
    for (let index = 0; index < batch.length; index++) {
      signal?.throwIfAborted()
      yield { series: batch.series, row: toRow(batch.row(index)) }
    }
  }
}
