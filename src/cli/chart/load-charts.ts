import { isKlinesError, KlinesError } from '../../candles/errors.js'
import { type Series, seriesName } from '../../candles/series.js'
import { plural } from '../../candles/text.js'
import { CandleFitter, type FittedCandles } from '../../chart/candle-fitter.js'
import type { ReadRequest } from '../../engine/klines.js'
import { planRequest } from '../../engine/plan.js'
import { cutToTail, readPlan } from '../../engine/read.js'
import { Tally } from '../../engine/report.js'
import { openRun, type Plan, type Run, withRun } from '../../engine/run.js'
import { joinNames } from '../../mirror/errors.js'
import { listingAnchor } from '../../mirror/status.js'
import { openMirror } from '../../mirror/user-mirrors.js'
import { describeShort } from '../../rows/coverage.js'
import { QUICK_POLICY, RETRY_POLICY } from '../../sources/retry.js'

/**
 * Candles to draw: those of each series that has some in the range, and how much of it each series has. `failure`: why the service could
 * not be reached; undefined when it was, or when it need not be.
 */
export type LoadedCharts = Awaited<ReturnType<typeof load>> & { readonly failure?: string }

export interface ChartRoom {
  readonly candles: number
  /** Beside the labels of these candles, which may be long. */
  readonly besideLabels: (chart: FittedCandles) => number
}

/**
 * Loads the candles of charts: the newest ones that fit, or all of a range that has a start. When the service cannot be reached, they are
 * what is cached. Throws `incomplete`, `no_candles`, and `unreachable` or `rate_limited` when nothing is cached.
 */
export async function loadCharts(request: ReadRequest, room: ChartRoom): Promise<LoadedCharts> {
  try {
    return await load(request, room)
  } catch (error) {
    if (request.offline || !(error instanceof KlinesError)) throw error
    if (!['unreachable', 'rate_limited', 'incomplete'].includes(error.code)) throw error
    // Where the lists are cached, one window tells that the service is away: the others must all be there.
    const cached = await load({ ...request, offline: true }, room, error.code !== 'incomplete').catch(other => {
      throw isKlinesError(other) ? error : other
    })
    return { ...cached, failure: error.message }
  }
}

/** `cachedOnly`: draw what is cached, with a note on what is not. */
function load(request: ReadRequest, { candles, besideLabels }: ChartRoom, cachedOnly = false) {
  // A person waits, and what is cached can be drawn instead.
  const policy = openMirror(request).symbols().length > 0 ? QUICK_POLICY : RETRY_POLICY
  return withRun(openRun(request, { policy }), async run => {
    const isTail = request.from === undefined && request.last === undefined
    const asked = await planRequest(request, run, { isTail })
    const plan = cachedOnly ? withoutMissing(asked, run) : asked
    let fitted = await fitCharts(plan, candles, run)
    const room = Math.min(...fitted.charts.map(besideLabels))
    // Where prices are long, the candles are read again, from the cache.
    if (fitted.charts.some(({ slots }) => slots.length > room))
      fitted = await fitCharts(plan, room, { ...run, emit: () => {} })
    const baseUrl = run.source?.name ?? run.mirror.source
    return { ...fitted, range: plan.range, baseUrl, mirror: run.mirror.root }
  })
}

async function fitCharts(plan: Plan, maxCandles: number, run: Run) {
  const keep = plan.range.fromTime === -Infinity ? 'newest' : 'all'
  const series = []
  for (const one of plan.series) series.push(keep === 'newest' ? await cutToTail(run, one, maxCandles, false) : one)
  const tally = new Tally({ ...plan, series }, run)
  const charts: FittedCandles<Series>[] = []
  for await (const [one, batches] of readPlan(run, tally, { asIs: true })) {
    const anchor = listingAnchor(run.mirror, one.series.symbol)
    const fitter = new CandleFitter(one.series, { maxCandles, keep, resample: one.resampleTo, anchor })
    for await (const batch of batches) fitter.add(batch)
    const chart = fitter.end()
    if (chart.slots.some(({ candle }) => Number(candle?.high) === Infinity))
      throw new KlinesError('bad_window', `${seriesName(one.series)} has a price above 1e308, which cannot be drawn.`)
    charts.push(chart)
  }
  const empty = charts.filter(({ candles }) => candles === 0).map(({ series }) => seriesName(series))
  const { series: coverage } = await tally.report({ partial: true })
  if (empty.length > 0) run.warn(`No candles in the range: ${joinNames(empty)}.`)
  const titled = charts.map((chart, index) => ({ ...chart, short: describeShort(coverage[index].coverage) }))
  return { charts: titled.filter(({ candles }) => candles > 0), coverage }
}

/** Leaves out the windows that the mirror lacks, and counts them in a note. */
function withoutMissing(plan: Plan, { mirror, warn }: Run): Plan {
  const series = plan.series.map(one => {
    const windows = one.windows.filter(window => mirror.read(window).state !== 'missing')
    const missing = one.windows.length - windows.length
    if (missing > 0 && windows.length > 0) {
      const what = `${plural(missing, 'window')} of the range not cached`
      warn(`${seriesName(one.series)}: ${what}; the chart lacks their candles.`)
    }
    return { ...one, windows }
  })
  return { ...plan, series }
}
