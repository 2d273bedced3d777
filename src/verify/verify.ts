import { EXCHANGE_INTERVALS, type Interval, nextOpenTime } from '../candles/intervals.js'
import type { Series } from '../candles/series.js'
import { planWindows, type RequestedRange } from '../candles/time-range.js'
import { windowSpan } from '../candles/windows.js'
import { type PlanRequest, planRequest } from '../engine/plan.js'
import { openRun, type Run, type SeriesPlan, type SourceOptions, withRun } from '../engine/run.js'
import { countThreads, shareTasks, type ThreadOptions } from '../engine/threads.js'
import { seriesBeginning } from '../mirror/beginning.js'
import type { Mirror } from '../mirror/mirror.js'
import { sumOf } from '../mirror/status.js'
import { turnGiver } from '../mirror/turns.js'
import { type Coverage, coverRange } from '../rows/coverage.js'
import type { Gap } from '../rows/gaps.js'
import { isMultiple, parseTargetInterval } from '../rows/target-interval.js'
import { type CandleSum, sumFiner } from './finer-sum.js'
import type { ReadScope, SeriesFindings, SeriesTask } from './series-reader.js'
import { judge } from './verdict.js'
import { type SymbolFindings, SymbolVerifier, type WorkerScope } from './verify-symbol.js'

/** Which candles of a mirror to read, without any request. Default: each series from its first to its last window. */
export type CheckRequest = Omit<PlanRequest, 'resample'> &
  Pick<SourceOptions, 'baseUrl' | 'mirror' | 'signal' | 'onEvent' | 'now'>

/** Which candles of a mirror to verify. */
export type VerifyRequest = CheckRequest &
  ThreadOptions & {
    /** Whether candles that are missing between others, or at an end of the range that is named, are failures. */
    readonly failOnGaps?: boolean | undefined
    /** Whether to list each candle beside the sum of its finer ones, in a named range with at most 20 of a series. */
    readonly sums?: boolean | undefined
  }

/** What a verification found. Times are ms UTC. */
export type VerificationReport = Awaited<ReturnType<typeof verifyKlines>>

/** With fewer windows, a worker takes 30 MB and saves no time. */
const MIN_WINDOWS = 10_000
/** Of so many candles the sums are listed. */
const MAX_BESIDE = 20

/**
 * Checks every cached candle of some series, without any request: order, times, prices, gaps, missing and corrupt windows, and whether
 * each candle is the exact sum of its finer ones, for all finer intervals that the mirror has. What is wrong is in the report. Throws
 * `window_missing` for a series that is not in the mirror, `mirror_mismatch`, and what is wrong with the request.
 *
 * @example
 * const { verdict, differences } = await verifyKlines({ symbols: ['BTCUSDT'], intervals: 'all' })
 */
export async function verifyKlines(request: VerifyRequest) {
  return withRun(openRun({ ...request, offline: true }), async run => {
    const { mirror } = run
    const plan = await planRequest(request, run)
    const { range } = plan
    const { fromTime, toTime, named } = range
    // The longest candle that opens before the end of the range ends by then.
    const ends = plan.series.map(({ series }) => nextOpenTime(series.interval, toTime))
    const readTo = toTime === Infinity ? toTime : Math.max(...ends)
    const symbols = [...new Set(plan.series.map(({ series }) => series.symbol))]
    const seriesOf = (symbol: string) => plan.series.filter(({ series }) => series.symbol === symbol)
    const tasks = symbols.map(symbol => planSymbol(mirror, seriesOf(symbol), readTo))
    const findings = await verifyAll(run, tasks, { range: { fromTime, toTime }, readTo }, request)
    // A plan has one symbol after another, too.
    const series = findings
      .flatMap(one => one.series)
      .map((one, index) => ({ ...one, coverage: cover(plan.series[index], range, one, mirror) }))
    const isShort = named.from !== undefined || named.to !== undefined
    const short = request.sums && isShort ? series.filter(({ candles }) => candles <= MAX_BESIDE) : []
    const sums: CandleSum[] = []
    for (const one of short) sums.push(...(await sumFiner(run, one, range)))
    /** One for each finer interval that shows it. */
    const differences = findings.flatMap(one => one.differences)
    return {
      ...{ mirror: mirror.root, baseUrl: mirror.source, range, differences },
      ...judge(series, differences, request),
      pairs: findings.flatMap(({ pairs }) => pairs),
      /** Empty without `sums`. */
      sums,
    }
  })
}

/** Verifies the symbols, a task each, several at once if there are very many windows. */
async function verifyAll(
  { mirror, signal, emit }: Run,
  tasks: readonly (readonly SeriesTask[])[],
  scope: ReadScope,
  { threads }: ThreadOptions,
): Promise<SymbolFindings[]> {
  const verifier = new SymbolVerifier(mirror, scope)
  const countWindows = (task: readonly SeriesTask[]) => sumOf(task.map(({ windows }) => windows.length))
  const total = sumOf(tasks.map(countWindows))
  let done = 0
  const progress = (windows: number) => {
    done += windows
    emit({ type: 'progress', done, total })
  }
  const giveTurn = turnGiver(signal)
  const afterRead = () => {
    done++
    const turn = giveTurn()
    if (turn) progress(0)
    return turn
  }
  signal.throwIfAborted()
  const findings = await shareTasks<readonly SeriesTask[], SymbolFindings>({
    ...{ kind: 'verify', data: { root: mirror.root, ...scope } satisfies WorkerScope },
    ...{ tasks, threads: countThreads(tasks.length, total, { threads }, MIN_WINDOWS), signal },
    work: task => verifier.verify(task, afterRead),
    done: task => progress(countWindows(task)),
  })
  progress(total - done)
  return findings
}

/** The named series of a symbol, and the finer ones of the mirror, up to the end of the last candles of the range. */
function planSymbol(mirror: Mirror, named: readonly SeriesPlan[], readTo: number): SeriesTask[] {
  const { symbol } = named[0].series
  const spans = named.flatMap(({ windows }) => windows.map(windowSpan))
  const fromTime = Math.min(...spans.map(({ startTime }) => startTime))
  const endTime = readTo === Infinity ? Math.max(...spans.map(({ endTime }) => endTime)) : readTo
  const cached = (one: Series, from: number) =>
    planWindows(one, mirror.dates(one), { fromTime: from, toTime: endTime }, Infinity)
  const isFiner = (interval: Interval) =>
    named.every(plan => plan.series.interval !== interval) &&
    named.some(plan => isMultiple(parseTargetInterval(plan.series.interval), interval))
  const unnamed = EXCHANGE_INTERVALS.filter(isFiner).map(interval => {
    return { series: { symbol, interval }, isNamed: false, windows: cached({ symbol, interval }, fromTime) }
  })
  return [
    ...named.map(({ series, windows }) => {
      const last = windows.at(-1)
      const later = last === undefined || readTo === Infinity ? [] : cached(series, windowSpan(last).endTime)
      return { series, isNamed: true, windows: [...windows, ...later] }
    }),
    ...unnamed.filter(({ windows }) => windows.length > 0),
  ]
}

/** How much of the range a series has. Candles that are missing in gaps are not counted twice. */
function cover(plan: SeriesPlan, range: RequestedRange, one: SeriesFindings, mirror: Mirror): Coverage {
  // Without a start of the range, all candles were read.
  const begin = range.fromTime === -Infinity ? one.firstOpenTime : undefined
  const beginning = seriesBeginning(mirror, plan.series, range.named.from, begin)
  const coverage = coverRange(plan, range, one, { ...beginning, rules: mirror.rules })
  const { first = -Infinity, last = -Infinity, shortAtStart, shortAtEnd } = coverage
  const count = (isCounted: (gap: Gap) => boolean) => sumOf(one.gaps.filter(isCounted).map(({ missing }) => missing))
  const [before, after] = [count(({ startTime }) => startTime < first), count(({ startTime }) => startTime > last)]
  return { ...coverage, shortAtStart: Math.max(0, shortAtStart - before), shortAtEnd: Math.max(0, shortAtEnd - after) }
}
