import type { KlineBatch } from '../klines/batch/kline-batch.js'
import { type Series, seriesName } from '../klines/series.js'
import { incomplete } from './errors.js'
import type { SourceOptions } from './open-source.js'
import type { Plan, SeriesPlan } from './plan.js'
import { type DownloadReport, DownloadTally, type Progress } from './tally.js'
import type { WindowFailure, WindowResult, WindowSource } from './window-source.js'
import { streamOf } from './window-stream.js'

/** The windows of a plan, settled while their candles are read: each is had once, and series follow each other. */
export class OnePass {
  private readonly settlement: DownloadTally
  private readonly results: AsyncGenerator<WindowResult | WindowFailure>
  private readonly order: ReadonlyMap<string, number>
  private readonly total: number
  /** Had, and of a series that nobody has asked for yet. */
  private ahead: WindowResult | WindowFailure | undefined

  /** `series`: those of the plan, in the order in which they will be read. */
  constructor(
    private readonly source: WindowSource,
    private readonly plan: Plan,
    series: readonly SeriesPlan[],
    options: SourceOptions,
    progress?: Progress,
  ) {
    const windows = series.flatMap(one => one.windows)
    this.total = windows.length
    this.settlement = new DownloadTally(source, plan, progress)
    this.results = streamOf(source, windows, options)
    this.order = new Map(series.map((one, index) => [seriesName(one.series), index]))
  }

  /** The candles of a series in the plan's range; each batch is good until the next. Throws `incomplete` at a failure. */
  async *batches(series: Series): AsyncGenerator<KlineBatch> {
    const { fromTime = Number.NEGATIVE_INFINITY, toTime = Number.POSITIVE_INFINITY } = this.plan.range
    const place = this.placeOf(series)
    for (let result = await this.next(); result !== undefined; result = await this.next()) {
      const at = this.placeOf(result.window)
      if (at > place) {
        this.ahead = result
        return
      }
      if (result.status === 'failed') throw incomplete([result], this.total, this.source.advice)
      const batch = result.batch.slice(fromTime, toTime)
      if (at === place && batch.length > 0) yield batch
    }
  }

  /** Has the windows that nobody read. Throws `incomplete`, which names all that could not be had, or `no_candles`. */
  async settle(): Promise<DownloadReport> {
    while ((await this.next()) !== undefined);
    return this.settlement.report()
  }

  /**
   * Lets go of the windows that nobody will read. Not waited for: one that is under way would be waited for first, with all its
   * tries, and what ends it is the end of its source.
   */
  close(): void {
    this.results.return(undefined).catch(() => {})
  }

  private async next(): Promise<WindowResult | WindowFailure | undefined> {
    const { ahead } = this
    this.ahead = undefined
    if (ahead) return ahead
    const { value, done } = await this.results.next()
    if (done) return undefined
    this.settlement.take(value)
    return value
  }

  private placeOf(series: Series): number {
    return this.order.get(seriesName(series)) as number
  }
}
