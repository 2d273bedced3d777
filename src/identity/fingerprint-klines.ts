import { seriesName } from '../candles/series.js'
import type { RequestedRange } from '../candles/time-range.js'
import type { Coverage } from '../engine/coverage.js'
import { joinNames } from '../engine/errors.js'
import { noWholeCandle } from '../engine/export.js'
import { planRequest } from '../engine/plan.js'
import { openWindows, readSeries } from '../engine/read.js'
import { checkGone, Tally } from '../engine/report.js'
import type { ReadRequest } from '../engine/rows.js'
import { openRun, withRun } from '../engine/run.js'
import {
  Fingerprinter,
  type FingerprintReport,
  reportFingerprints,
  type SeriesFingerprint,
} from '../rows/fingerprint.js'

/** The fingerprint of a series, and how much of the requested range it has. */
export interface CoveredFingerprint extends SeriesFingerprint {
  readonly coverage: Coverage
}

/** The fingerprints of a range. */
export interface RangeFingerprints extends FingerprintReport<CoveredFingerprint> {
  /** Base address the candles come from; undefined for a mirror that does not say it. */
  readonly baseUrl: string | undefined
  readonly range: RequestedRange
}

/**
 * The fingerprint of each series of a range, and that of all of them: a short text that stands for exactly these candles, also as the
 * rows of any file that is made of them. Downloads what is missing or can still change, unless `offline`. A series without candles in
 * the range has none. Throws what `exportKlines` throws about the request, `incomplete` (also for gaps, with `failOnGaps`) and `no_candles`.
 *
 * @example
 * const { series } = await fingerprintKlines({ symbols: ['BTCUSDT'], intervals: ['1h'], from: '2024', to: '2025' })
 * console.log(series[0].fingerprint) // klines:1:9f2c...
 */
export async function fingerprintKlines(request: ReadRequest): Promise<RangeFingerprints> {
  return withRun(openRun(request), async run => {
    const plan = await planRequest(request, run)
    const tally = new Tally(plan, run)
    const windows = openWindows(run, plan.series)
    const found: (SeriesFingerprint | undefined)[] = []
    try {
      for (const one of plan.series) {
        const fingerprinter = new Fingerprinter(one.label)
        const batches = readSeries(windows, one, tally, { ...run, partial: request.partial })
        for await (const batch of batches) fingerprinter.add(batch)
        found.push(fingerprinter.finish())
      }
    } finally {
      await windows.return(undefined)
    }
    const report = tally.report(request)
    const series = found.flatMap((one, index) => (one ? [{ ...one, coverage: report.series[index].coverage }] : []))
    if (series.length === 0) throw noWholeCandle(plan.series)
    const empty = plan.series.filter((_, index) => found[index] === undefined).map(({ label }) => seriesName(label))
    if (empty.length > 0) run.warn(`No candles in the range: ${joinNames(empty)}.`)
    checkGone(plan, run)
    return { ...reportFingerprints(series), baseUrl: report.baseUrl, range: plan.range }
  })
}
