import type { Warn } from '../../download/sources/window-source.js'
import type { Series } from '../../klines/series.js'
import type { Mirror } from '../../mirror/mirror.js'
import { mirrorStatus } from '../../mirror/status.js'
import type { SeriesReport } from '../../verify/series-report.js'
import { verifyKlines } from '../../verify/verify.js'

/** The candles of a series, as `klines verify` counts them. Times are open times, ms UTC. */
export interface SeriesSurvey extends Series {
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

/** How far a survey is; `total` is the number of windows. */
export type SurveyState =
  | { readonly state: 'running'; readonly done: number; readonly total: number }
  | { readonly state: 'done'; readonly series: readonly SeriesSurvey[] }
  | { readonly state: 'failed'; readonly message: string }

/** Reads every cached candle of a mirror, in the background and only when somebody asks; again when the mirror has changed. */
export class Survey {
  private readonly stop = new AbortController()
  private progress: { done: number; total: number } | undefined
  /** The result for a version of the mirror. */
  private latest: { readonly version: string; readonly result: SurveyState } | undefined

  constructor(
    private readonly mirror: Mirror,
    private readonly now: () => number,
    private readonly onError: (error: Error) => void,
  ) {}

  /** The survey of the mirror as it is, or how far it is. */
  state(): SurveyState {
    if (this.progress) return { state: 'running', ...this.progress }
    const all = mirrorStatus(this.mirror)
    const version = JSON.stringify(all)
    if (this.latest?.version === version) return this.latest.result
    this.progress = { done: 0, total: all.reduce((sum, { windows }) => sum + windows, 0) }
    void this.run(all, version)
    return { state: 'running', ...this.progress }
  }

  /** Ends the work that is under way. */
  close(): void {
    this.stop.abort()
  }

  private async run(all: readonly Series[], version: string): Promise<void> {
    const { signal } = this.stop
    const warn: Warn = () => {}
    const progress = (done: number, total: number) => {
      this.progress = { done, total }
    }
    try {
      const report = await verifyKlines(this.mirror, all, { audit: false, now: this.now(), warn, signal, progress })
      this.latest = { version, result: { state: 'done', series: report.series.map(summarize) } }
    } catch (error) {
      // Its text may name folders of this machine, which are nobody's business.
      const message = 'The candles of this mirror could not be read. The log of the server says why.'
      this.latest = { version, result: { state: 'failed', message } }
      if (!signal.aborted) this.onError(error as Error)
    } finally {
      this.progress = undefined
    }
  }
}

function summarize({ symbol, interval, gaps, ...series }: SeriesReport): SeriesSurvey {
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
