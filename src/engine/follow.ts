import { pMapIterable } from 'p-map'
import { isKlinesError, KlinesError } from '../candles/errors.js'
import { approximateLength, HOUR_MS, MINUTE_MS, nextOpenTime } from '../candles/intervals.js'
import { parseSelection, type SelectionRequest } from '../candles/selection.js'
import { type Series, type WindowRef, windowName, windowOf } from '../candles/series.js'
import { formatTime, plural } from '../candles/text.js'
import { MAY_LAG_MS, type RangeText } from '../candles/time-range.js'
import { consecutiveStartDates, startDateAt, windowSpan } from '../candles/windows.js'
import { type FileVersion, isSameVersion } from '../fs/files.js'
import { incomplete, type WindowFailure } from '../mirror/errors.js'
import type { Mirror } from '../mirror/mirror.js'
import { indexPath } from '../mirror/series-index.js'
import { newestCandle } from '../mirror/status.js'
import { reachesEnd, SETTLING_MS } from '../mirror/window-state.js'
import { SETTLING_MS as CLOSING_MS, nextSettled } from '../rows/closed-rows.js'
import { shortSentences } from '../rows/coverage.js'
import type { ChangedCell } from '../rows/diff.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { type Clock, systemClock } from '../sources/retry.js'
import type { Rules, Source } from '../sources/source.js'
import { request as asked } from './lists.js'
import { planRequest } from './plan.js'
import { readPlan } from './read.js'
import { refreshWindow } from './refresh.js'
import { Tally } from './report.js'
import {
  isOnline,
  openRun,
  type Plan,
  quiet,
  type Run,
  type SourceOptions,
  type WindowResult,
  withoutAbsent,
} from './run.js'
import { selectOfSource } from './selection.js'

/** Which candles to follow: with `from` or `last` their history comes first. */
export interface FollowRequest extends SelectionRequest, SourceOptions, Pick<RangeText, 'from' | 'last'> {
  /** Follow what other processes write into the mirror, without any request. */
  readonly offline?: boolean | undefined
}

/** A series that is followed. Times are ms UTC, by the clock of its source. */
export interface Followed {
  readonly series: Series
  /** Candles that open earlier are out. */
  from: number
  /** When it was asked for, and when it is asked for again. */
  asked: number
  due: number
  /** Of a mirror alone: its index, as it was when it was read. */
  version?: FileVersion | undefined
}

/** Half of the limit of the exchange is enough for the minutes of so many series, with downloads beside them. */
const MOST_OF_EXCHANGE = 100
/** The longest wait in one piece: that a machine slept, or that a clock was set, is noticed then. */
const WAIT_MS = MINUTE_MS
/** How often a mirror is looked at that another process writes. */
const LOOK_MS = 1_000
/** When a series is asked for again that could not be had, and at first a service that cannot be reached. */
const RETRY_MS = 5_000

/** Series that are followed, and their candles: a batch is valid until the next one. */
export interface Following {
  readonly series: readonly Series[]
  readonly batches: AsyncGenerator<KlineBatch>
}

/**
 * The candles of a range, series by series, and then each one once, in order within its series, as it closes: of the exchange 15 s after
 * that, of another service when its tree has it. They never end by themselves: leave the loop, or abort the signal. While the service
 * cannot be reached they wait, with a `warning` event, and go on behind the last one. Throws what `klineBatches` throws, and `bad_option`
 * for more than 100 series of the exchange.
 */
export async function openFollow(request: FollowRequest, clock: Clock = systemClock): Promise<Following> {
  const open = () => openRun(request, { clock: () => clock.now() })
  const run = await open()
  try {
    const plan = await planFollow(run, request)
    return { series: plan.series.map(({ series }) => series), batches: followBatches(run, plan, open, clock) }
  } catch (error) {
    await run.close().catch(() => {})
    throw error
  }
}

async function* followBatches(
  first: Run,
  plan: FollowPlan,
  open: () => Promise<Run>,
  clock: Clock,
): AsyncGenerator<KlineBatch> {
  const sayNow = () => `${new Date(clock.now()).toISOString().slice(0, 19)}Z`
  const sayChange = ({ window }: WindowResult, cells: readonly ChangedCell[]) => {
    const [{ openTime, column, before, after }] = cells
    const example = `${column} of ${formatTime(openTime)} was ${before} and is ${after}`
    run.warn(`${windowName(window)}: ${plural(cells.length, 'cell')} of earlier candles changed: ${example}.`, true)
  }
  let run = first
  try {
    const followed = yield* readHistory(run, plan)
    for (let failures = 0; ; ) {
      try {
        const now = await presentOf(run)
        const waitMs = Math.min(...followed.map(one => (isDue(one, now) ? 0 : one.due - now)), WAIT_MS)
        if (waitMs > 0) await clock.sleep(waitMs, run.signal)
        for await (const batch of followRound(run, followed, sayChange)) yield batch
        if (failures > 0) run.warn(`${sayNow()}: going on, with no candle left out.`, true)
        failures = 0
      } catch (error) {
        run.signal.throwIfAborted()
        const untilMs = waitsUntil(error, clock.now() + Math.min(RETRY_MS * 2 ** failures, WAIT_MS))
        if (untilMs === undefined) throw error
        if (failures === 0) run.warn(`${sayNow()}: waiting. ${(error as Error).message}`, true)
        failures++
        // One that has stopped sends no request any more.
        await run.close().catch(() => {})
        await clock.sleep(Math.max(0, untilMs - clock.now()), run.signal)
        run = await open()
      }
    }
  } finally {
    await run.close()
  }
}

/** Until when a fault that may end by itself is waited out, ms UTC: `retryTime`, unless it says when. Undefined for any other fault. */
function waitsUntil(error: unknown, retryTime: number): number | undefined {
  if (isKlinesError(error, 'rate_limited')) return Math.max(Date.parse(String(error.data.until)), retryTime)
  if (isKlinesError(error, 'incomplete')) return retryTime
  const isRefused = isKlinesError(error, 'unreachable') && [403, 451].includes(Number(error.data.status))
  return isKlinesError(error, 'unreachable') && !isRefused ? retryTime : undefined
}

/** The present by the clock that says which candles have closed, ms UTC. */
async function presentOf({ source, now, signal }: Run): Promise<number> {
  return source?.rules.kind === 'exchange' ? asked(source, "the exchange's clock", source.now(signal)) : now()
}

/** A clock that was set back makes everything due. */
function isDue({ asked, due }: Followed, now: number): boolean {
  return now >= due || now < asked
}

interface FollowPlan extends Plan {
  /** Whether the history of a range comes first. */
  readonly hasHistory: boolean
}

async function planFollow(run: Run, { symbols, intervals, from, last }: FollowRequest): Promise<FollowPlan> {
  const hasHistory = from !== undefined || last !== undefined
  // From now on: the windows that may have the newest candle say which one that is.
  const lagMs = run.source?.rules.kind === 'exchange' ? CLOSING_MS : MAY_LAG_MS
  const recent = isOnline(run) ? { from: (await presentOf(run)) - lagMs } : {}
  // Before a request for each of them.
  const ofExchange = isOnline(run) && run.source.rules.kind === 'exchange'
  const count = ofExchange ? (await selectOfSource(parseSelection({ symbols, intervals }), run)).series.length : 0
  if (count <= MOST_OF_EXCHANGE) {
    const plan = await planRequest({ symbols, intervals, ...(hasHistory ? { from, last } : recent) }, run)
    return { ...plan, hasHistory }
  }
  const message = `These are ${count} series. Expected at most ${MOST_OF_EXCHANGE} of the exchange.`
  const advice = 'Other programs share its limit of requests with this one: leave out some symbols or intervals.'
  throw new KlinesError('bad_option', message, { suggestions: [advice] })
}

/** The candles of the range, once all of its windows are there. Returns where each series goes on. */
async function* readHistory(run: Run, plan: FollowPlan): AsyncGenerator<KlineBatch, Followed[]> {
  const { mirror, warn, source } = run
  const { hasHistory, range, gone } = plan
  const now = await presentOf(run)
  if (gone.length > 0) warn(`${source?.name} does not know ${gone.join(', ')} any more.`, true)
  if (hasHistory || isOnline(run)) {
    const tally = new Tally(plan, run)
    for await (const [, batches] of readPlan(run, tally, { countOnly: true })) for await (const _ of batches);
    const { series } = await tally.report({}, false, true)
    for (const sentence of hasHistory ? shortSentences(series, range) : []) warn(sentence, true)
  }
  const ends = new Map<Series, number>()
  if (hasHistory) {
    const there = { ...plan, series: plan.series.map(one => withoutAbsent(one, run)) }
    for await (const [{ series }, batches] of readPlan(quiet(run), new Tally(there, quiet(run)))) {
      for await (const batch of batches) {
        if (batch.lastOpenTime === undefined) continue
        ends.set(series, batch.lastOpenTime)
        yield batch
      }
    }
  }
  return plan.series.map(({ series, range: { fromTime } }) => {
    const next = nextCandle(mirror, series, now, ends.get(series))
    return {
      series,
      from: hasHistory ? Math.max(next, fromTime) : next,
      asked: now,
      due: dueTime(source?.rules, series, now),
    }
  })
}

/** When the candle behind the newest one of a mirror opens, or its window of the present where it has none; ms UTC. */
export function nextCandle(mirror: Mirror, series: Series, now: number, newest = newestCandle(mirror, series)): number {
  if (newest !== undefined) return nextOpenTime(series.interval, newest)
  return windowSpan(windowOf(series, startDateAt(series.interval, now))).startTime
}

/** When a series that was asked for at `time` may have new candles, ms UTC. `rules`: of its source, if it has one. */
export function dueTime(rules: Rules | undefined, { interval }: Series, time: number): number {
  if (rules === undefined) return time + LOOK_MS
  if (rules.kind === 'exchange') return nextSettled(interval, time)
  return time + Math.min(Math.max(approximateLength(interval), MINUTE_MS), HOUR_MS)
}

/**
 * The candles that are new of the series that are due, each once, in the order of the series. `onChange`: called with each window of which
 * candles that are out have other values. Throws `incomplete` at the end for those that could not be had: they are due again soon, and
 * go on where they were.
 */
export async function* followRound(
  run: Run,
  followed: readonly Followed[],
  onChange: (result: WindowResult, cells: readonly ChangedCell[]) => void,
): AsyncGenerator<KlineBatch> {
  const now = await presentOf(run)
  const due = followed.filter(one => isDue(one, now))
  const round = { ...run, follows: true, done: new Map() }
  const read = (one: Followed) => (isOnline(round) ? fetchNew(round, one, now, onChange) : readNew(run, one, now))
  const failures: WindowFailure[] = []
  for await (const { one, batches, failure } of pMapIterable(due, read, { concurrency: run.concurrency })) {
    for (const batch of batches) {
      // It is out, whatever its reader does.
      one.from = nextOpenTime(one.series.interval, batch.lastOpenTime as number)
      yield batch
    }
    // The clock may have been too fast before it was asked.
    one.asked = Math.min(now, await presentOf(run))
    one.due = failure ? now + RETRY_MS : dueTime(run.source?.rules, one.series, one.asked)
    if (failure) failures.push(failure)
  }
  if (failures.length > 0) throw incomplete(failures, due.length, { offline: !isOnline(run), forExport: false })
}

/** The new candles of a series, in order, and the first window that could not be had: what follows that waits for it. */
interface NewCandles {
  readonly one: Followed
  readonly batches: readonly KlineBatch[]
  readonly failure?: WindowFailure | undefined
}

async function fetchNew(
  run: Run<Source>,
  one: Followed,
  now: number,
  onChange: Parameters<typeof followRound>[2],
): Promise<NewCandles> {
  const { mirror, source } = run
  const batches: KlineBatch[] = []
  for (const window of windowsToAsk(run, one, now)) {
    const outcome = await refreshWindow(run, window)
    // A static service has no file of a window that it has no candle of yet.
    if (outcome.status === 'failed' && !(outcome.isAbsent && source.rules.kind !== 'exchange'))
      return { one, batches, failure: outcome }
    if (!('batch' in outcome)) continue
    const cells = outcome.change?.cells.filter(({ openTime }) => openTime < one.from) ?? []
    if (cells.length > 0) onChange(outcome, cells)
    const batch = outcome.batch.slice(one.from, Infinity)
    if (batch.length > 0) batches.push(batch)
  }
  mirror.flush(one.series)
  return { one, batches }
}

/** Those that may have candles from `from` on, and of the exchange one that can become final now. */
function windowsToAsk({ mirror, source }: Run<Source>, { series, from }: Followed, now: number): WindowRef[] {
  const settled = mirror.settled(series)
  const canSettle = (window: WindowRef) =>
    source.rules.kind === 'exchange' &&
    now >= windowSpan(window).endTime + SETTLING_MS &&
    mirror.facts(series).has(window.startDate) &&
    !settled(window)
  const { startTime, endTime } = windowSpan(windowOf(series, startDateAt(series.interval, from)))
  // Since it became the newest but one, one length of windows has passed.
  const before = startDateAt(series.interval, Math.min(startTime, now - SETTLING_MS - (endTime - startTime)))
  const dates = consecutiveStartDates(series.interval, before, now)
  const windows = dates.map(date => windowOf(series, date))
  return windows.filter(window => windowSpan(window).endTime > from || canSettle(window))
}

/** What another process has written since the index of a series was read. */
async function readNew({ mirror }: Run, one: Followed, now: number): Promise<NewCandles> {
  const { series, from } = one
  const version = mirror.version(indexPath(series))
  const batches: KlineBatch[] = []
  if (one.version && isSameVersion(one.version, version)) return { one, batches }
  const facts = mirror.facts(series)
  const first = startDateAt(series.interval, from)
  for (const date of consecutiveStartDates(series.interval, first, now)) {
    const window = windowOf(series, date)
    const read = mirror.read(window)
    if (read.state === 'corrupt') return { one, batches, failure: { window, status: 'failed', reason: read.reason } }
    if (read.state === 'missing') break
    const batch = read.batch.slice(from, Infinity)
    if (batch.length > 0) batches.push(batch)
    // The next one may be stored before the last candles of this one.
    const isOver = (facts.get(date)?.asked ?? 0) >= windowSpan(window).endTime + CLOSING_MS
    if (!isOver && !reachesEnd(window, read.batch.lastOpenTime)) break
  }
  one.version = version
  return { one, batches }
}
