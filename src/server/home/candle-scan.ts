import type { Warn } from '../../download/sources/window-source.js'
import type { Series } from '../../klines/series.js'
import { type VerifiedSeries, verifySeries } from '../../verify/verify.js'
import { Body } from '../http/body.js'
import type { Tree } from '../tree/tree.js'
import { type CoverageSurvey, KeptSurvey, type SurveyOptions } from './coverage-survey.js'

/** Candles of a series that are read before other requests get their turn: some milliseconds. */
const SLICE_CANDLES = 10_000

/** The candles of a series, as `klines verify` counts them. Times are open times, ms UTC. */
interface ScannedSeries extends Series {
  readonly candles: number
  readonly firstOpenTime: number | undefined
  readonly lastOpenTime: number | undefined
  readonly corruptWindows: number
  readonly missingWindows: number
  readonly missingCandles: number
  readonly gaps: number
  /** Gaps that another symbol has too. */
  readonly outages: number
}

/**
 * How far a scan is; `total` is the number of windows, 0 as long as it is not known. `renewing`: a later result will follow, because
 * the mirror may have changed since.
 */
type ScanState =
  | { readonly state: 'running'; readonly done: number; readonly total: number }
  | { readonly state: 'done'; readonly series: readonly ScannedSeries[]; readonly renewing: boolean }
  | { readonly state: 'failed'; readonly message: string }

/** The answers for a result: as it is, and while it is renewed. */
interface CandleResult {
  /** The version of the mirror that was read. */
  readonly version: string
  readonly settled: Body
  readonly renewing: Body
}

/** Reads every cached candle of a mirror beside requests: when somebody asks and, later on, when the mirror has changed. */
export class CandleScan {
  private readonly kept: KeptSurvey<CandleResult>
  private progress = { done: 0, total: 0 }

  constructor(
    private readonly tree: Tree,
    private readonly coverage: CoverageSurvey,
    private readonly options: SurveyOptions,
  ) {
    this.kept = new KeptSurvey(before => this.find(before), options.renewMs, options.onError)
  }

  /** The latest result, or how far the first one is. */
  state(): Body {
    const { result, isWorking } = this.kept
    if (!result) return toBody({ state: 'running', ...this.progress })
    return isWorking ? result.renewing : result.settled
  }

  private async find(before: CandleResult | undefined): Promise<CandleResult> {
    const { signal, onError } = this.options
    this.progress = { done: 0, total: 0 }
    try {
      const { coverage } = await this.coverage.next()
      const version = JSON.stringify(coverage.series)
      if (before?.version === version) return before
      const series = await this.read(coverage.series)
      const state = { state: 'done', series } as const
      return {
        version,
        settled: toBody({ ...state, renewing: false }),
        renewing: toBody({ ...state, renewing: true }),
      }
    } catch (error) {
      if (!signal.aborted) onError(error as Error)
      // Its text may name folders of this machine, which are nobody's business.
      const message = 'The candles of this mirror could not be read. The log of the server says why.'
      const failed = toBody({ state: 'failed', message })
      return { version: '', settled: failed, renewing: failed }
    }
  }

  private async read(series: readonly Series[]): Promise<ScannedSeries[]> {
    const { mirror, now } = this.tree
    const warn: Warn = () => {}
    const progress = (done: number, total: number) => {
      this.progress = { done, total }
    }
    const { signal } = this.options
    const options = { audit: false, now: now(), sliceCandles: SLICE_CANDLES, warn, signal, progress }
    const report = await verifySeries(mirror, series, options)
    return report.series.map(summarize)
  }
}

function toBody(state: ScanState): Body {
  return new Body(Buffer.from(JSON.stringify(state)), { isPrivate: true })
}

function summarize({ symbol, interval, gaps, ...series }: VerifiedSeries): ScannedSeries {
  const { candles, firstOpenTime, lastOpenTime, corrupt, missingWindows } = series
  return {
    symbol,
    interval,
    candles,
    firstOpenTime,
    lastOpenTime,
    corruptWindows: corrupt.length,
    missingWindows: missingWindows.length,
    missingCandles: gaps.reduce((sum, { missing }) => sum + missing, 0),
    gaps: gaps.length,
    outages: gaps.filter(({ outage }) => outage).length,
  }
}
