import { joinNames } from '../download/errors.js'
import { toWarn } from '../download/events.js'
import type { ReadRequest } from '../download/read.js'
import { checkRange } from '../download/request-range.js'
import { parseSelection } from '../download/selection.js'
import { openSource } from '../download/sources/open-source.js'
import type { SourceInfo } from '../download/sources/window-source.js'
import { DownloadTally, type TallyOptions } from '../download/tally.js'
import { readWindows, streamWindows } from '../download/window-stream.js'
import {
  Fingerprinter,
  type FingerprintReport,
  reportFingerprints,
  type SeriesFingerprint,
} from '../fingerprint/fingerprint.js'
import type { Coverage } from '../klines/audit/coverage.js'
import { seriesName } from '../klines/series.js'
import type { RequestedRange } from '../klines/time-range.js'
import { readSeries } from './encode.js'
import { planRequest, type ResampleRequest } from './export-series.js'
import { noWholeCandle } from './write.js'

/** Which candles. */
export interface FingerprintRequest extends ReadRequest, ResampleRequest, Pick<TallyOptions, 'failOnGaps'> {}

/** The fingerprint of a series, and how much of the requested range it has. */
export interface CoveredFingerprint extends SeriesFingerprint {
  readonly coverage: Coverage
}

/** The fingerprints of a range. */
export interface RangeFingerprints extends FingerprintReport<CoveredFingerprint>, Pick<SourceInfo, 'baseUrl'> {
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
export async function fingerprintKlines(request: FingerprintRequest): Promise<RangeFingerprints> {
  const selection = parseSelection(request)
  checkRange(request)
  const source = await openSource(request, { memory: new Map() })
  try {
    const { plan, series: all } = await planRequest(request, source, selection)
    const tally = new DownloadTally(source, plan, request)
    const windows = source.info.offline ? readWindows(source, all, request.signal) : streamWindows(source, all, request)
    const options = { range: plan.range, partial: request.partial }
    const found: (SeriesFingerprint | undefined)[] = []
    try {
      for (const series of all) {
        const fingerprinter = new Fingerprinter(series)
        const batches = readSeries(series, options, { source, windows, tally })
        for await (const batch of batches) fingerprinter.add(batch)
        found.push(fingerprinter.finish())
      }
    } finally {
      await windows.return(undefined)
    }
    const { series: reports } = tally.report()
    const series = found.flatMap((one, index) => (one ? [{ ...one, coverage: reports[index].coverage }] : []))
    if (series.length === 0) throw noWholeCandle(all)
    const empty = all.filter((_, index) => found[index] === undefined).map(seriesName)
    if (empty.length > 0) toWarn(request)(`No candles in the range: ${joinNames(empty)}.`)
    return { ...reportFingerprints(series), baseUrl: source.info.baseUrl, range: plan.range }
  } finally {
    await source.close()
  }
}
