import { isKlinesError, KlinesError } from '../candles/errors.js'
import { approximateLength, HOUR_MS, MINUTE_MS, nextOpenTime } from '../candles/intervals.js'
import type { SelectionRequest } from '../candles/selection.js'
import { type Series, type WindowRef, windowName, windowOf } from '../candles/series.js'
import { formatTime, plural } from '../candles/text.js'
import { MAY_LAG_MS, type RangeText } from '../candles/time-range.js'
import { consecutiveStartDates, startDateAt, windowSpan } from '../candles/windows.js'
import { incomplete, type WindowFailure } from '../mirror/errors.js'
import type { Mirror } from '../mirror/mirror.js'
import { newestCandle } from '../mirror/status.js'
import { reachesEnd, SETTLING_MS } from '../mirror/window-state.js'
import { SETTLING_MS as CLOSING_MS, nextSettled } from '../rows/closed-rows.js'
import { shortSentences } from '../rows/coverage.js'
import type { ChangedCell } from '../rows/diff.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { type Clock, systemClock } from '../sources/retry.js'
import type { Rules } from '../sources/source.js'
import { planRequest, presentOf } from './plan.js'
import { readPlan, readWindows } from './read.js'
import { refresh } from './refresh.js'
import { Tally } from './report.js'
import {
  isOnline,
  openRun,
  type Plan,
  type Run,
  type SourceOptions,
  type WindowOutcome,
  type WindowResult,
} from './run.js'

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
}

/** The longest wait: a machine that slept, and a clock that was set, are noticed then. */
const WAIT_MS = MINUTE_MS
/** Of the exchange: in some 3 s after each close, with 200 of its weight a minute. */
const MAX_SERIES = 100
/** How often a mirror is looked at that others write. */
const LOOK_MS = 1_000
/** When what could not be had is asked for again, at first. */
const RETRY_MS = 5_000

/**
 * The series of a request, and their candles as `followKlines` has them, in batches: each is valid until the next one. Throws what
 * `klineBatches` throws, and `bad_option` for more than `most` series, or 100 of the exchange.
 */
export async function openFollow(request: FollowRequest, { clock = systemClock, most = Infinity } = {}) {
  const { symbols, intervals, from, last } = request
  const hasHistory = from !== undefined || last !== undefined
  const open = () => openRun(request, { clock: () => clock.now() })
  const run = await open()
  try {
    // From now on: the windows that may have the newest candle say which one that is.
    const lagMs = run.source?.rules.kind === 'exchange' ? CLOSING_MS : MAY_LAG_MS
    const recent = isOnline(run) ? { from: (await presentOf(run)) - lagMs } : {}
    const range = hasHistory ? { from, last } : recent
    const plan = await planRequest({ symbols, intervals, ...range }, run, {
      check: series => checkCount(run, series, most),
    })
    const batches = followPlan(run, plan, hasHistory, open, clock)
    return { series: plan.series.map(({ series }) => series), batches }
  } catch (error) {
    await run.close().catch(() => {})
    throw error
  }
}

async function* followPlan(
  first: Run,
  plan: Plan,
  hasHistory: boolean,
  open: () => Promise<Run>,
  clock: Clock,
): AsyncGenerator<KlineBatch> {
  let run = first
  const say = (text: string) => run.warn(`${new Date(clock.now()).toISOString().slice(0, 19)}Z: ${text}`, true)
  try {
    const now = await presentOf(run)
    if (hasHistory || isOnline(run)) {
      const tally = new Tally(plan, run)
      for await (const [, batches] of readPlan(run, tally, { countOnly: true })) for await (const _ of batches);
      const { series, range } = await tally.report({}, false, true)
      if (hasHistory) for (const sentence of shortSentences(series, range)) run.warn(sentence, true)
    }
    const followed = plan.series.map(({ series, range }): Followed => {
      if (hasHistory) return { series, from: range.fromTime, asked: now, due: now }
      const due = dueTime(run.source?.rules, series, now)
      return { series, from: nextCandle(run.mirror, series, now), asked: now, due }
    })
    for (let failures = 0; ; ) {
      try {
        const now = await presentOf(run)
        const waitMs = Math.min(...followed.map(one => (isDue(one, now) ? 0 : one.due - now)), WAIT_MS)
        if (waitMs > 0) await clock.sleep(waitMs, run.signal)
        yield* followRound(run, followed)
        if (failures > 0) say('going on, with no candle left out.')
        failures = 0
      } catch (error) {
        run.signal.throwIfAborted()
        const untilMs = waitsUntil(error, clock.now() + Math.min(RETRY_MS * 2 ** failures, WAIT_MS))
        if (untilMs === undefined) throw error
        if (failures++ === 0) say(`waiting. ${(error as Error).message}`)
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

/** Throws `bad_option` for more series than can be asked for in time, and for more than `most`. */
function checkCount({ source }: Run, { length }: readonly Series[], most: number): void {
  if (length > most)
    throw new KlinesError('bad_option', `${length} series are too many. Expected ${most} for a file that grows.`)
  if (source?.rules.kind !== 'exchange' || length <= MAX_SERIES) return
  const message = `${length} series are too many to follow: each takes a request a close. Expected at most ${MAX_SERIES}.`
  throw new KlinesError('bad_option', message, { suggestions: ['Name fewer symbols or intervals.'] })
}

/** Until when a fault that may end by itself is waited out, ms UTC: `retryTime`, unless it says when. Undefined for any other fault. */
function waitsUntil(error: unknown, retryTime: number): number | undefined {
  if (isKlinesError(error, 'rate_limited')) return Math.max(Date.parse(String(error.data.until)), retryTime)
  if (isKlinesError(error, 'incomplete')) return retryTime
  const isRefused = isKlinesError(error, 'unreachable') && [403, 451].includes(Number(error.data.status))
  return isKlinesError(error, 'unreachable') && !isRefused ? retryTime : undefined
}

/** A clock that was set back makes everything due. */
function isDue({ asked, due }: Followed, now: number): boolean {
  return now >= due || now < asked
}

/** When the candle behind the newest one of a mirror opens, or its window of the present where it has none; ms UTC. */
export function nextCandle(mirror: Mirror, series: Series, now: number): number {
  const newest = newestCandle(mirror, series)
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
 * The candles that are new of the series that are due, each once, in the order of the series. `onRestated`: hears of candles that are out
 * and have other values now, by their open times. Throws `incomplete` at the end for windows that could not be had: their series are due
 * again soon, and go on where they were.
 */
export async function* followRound<One extends Followed>(
  run: Run,
  followed: readonly One[],
  onRestated: (one: One, cells: readonly ChangedCell[], result: WindowResult) => void = (_, cells, { window }) =>
    sayChange(run, window, cells),
): AsyncGenerator<KlineBatch> {
  const { mirror, source } = run
  const now = await presentOf(run)
  const due = followed.filter(one => isDue(one, now))
  const round = { ...run, follows: true, done: new Map() }
  const plans = due.map(one => {
    const range = { fromTime: one.from, toTime: Number.MAX_SAFE_INTEGER }
    return { series: one.series, label: one.series, range, windows: windowsToAsk(run, one, now) }
  })
  const windows = isOnline(round) ? refresh(round, plans) : readWindows(run, plans)
  const failures: WindowFailure[] = []
  try {
    for (const [index, one] of due.entries()) {
      const { interval } = one.series
      // What follows a window that cannot be had, or that may get more candles, waits for it.
      let waits = false
      const before = failures.length
      for (const window of plans[index].windows) {
        const outcome = (await windows.next()).value as WindowOutcome
        if (waits) continue
        waits = outcome.status === 'failed' || !isOver(mirror, window, 'batch' in outcome ? outcome.batch : undefined)
        // A static service has no file of a window that it has no candle of yet.
        const isAbsent = outcome.status === 'failed' && outcome.isAbsent && source?.rules.kind !== 'exchange'
        if (outcome.status === 'failed' && !isAbsent) failures.push(outcome)
        if (!('batch' in outcome)) continue
        const cells = 'change' in outcome ? outcome.change?.cells.filter(({ openTime }) => openTime < one.from) : []
        if (cells && cells.length > 0) onRestated(one, cells, outcome)
        const batch = outcome.batch.slice(one.from, Infinity)
        if (batch.lastOpenTime === undefined) continue
        one.from = nextOpenTime(interval, batch.lastOpenTime)
        yield batch
      }
      // The clock may have been too fast before it was asked.
      one.asked = Math.min(now, await presentOf(run))
      one.due = failures.length > before ? now + RETRY_MS : dueTime(source?.rules, one.series, one.asked)
    }
  } finally {
    await windows.return(undefined)
  }
  if (failures.length > 0) throw incomplete(failures, due.length, { offline: !source, forExport: false })
}

/** Those that may have candles from `from` on: of a mirror alone those it has, of the exchange also one that can become final now. */
function windowsToAsk({ mirror, source }: Run, { series, from }: Followed, now: number): WindowRef[] {
  const { interval } = series
  const cached = mirror.dates(series)
  const [first = startDateAt(interval, from)] = cached
  const span = windowSpan(windowOf(series, startDateAt(interval, from)))
  // Since it became the newest but one, one length of windows has passed.
  const earlier = Math.min(span.startTime, now - SETTLING_MS - (span.endTime - span.startTime))
  const begin = startDateAt(interval, source ? earlier : from)
  const settled = mirror.settled(series)
  const isOpen = (window: WindowRef) =>
    now >= windowSpan(window).endTime + SETTLING_MS && cached.includes(window.startDate) && !settled(window)
  return consecutiveStartDates(interval, begin > first ? begin : first, now)
    .map(date => windowOf(series, date))
    .filter(window => windowSpan(window).endTime > from || (source?.rules.kind === 'exchange' && isOpen(window)))
    .filter(({ startDate }) => source || startDate <= (cached.at(-1) ?? ''))
}

function sayChange({ warn }: Run, window: WindowRef, cells: readonly ChangedCell[]): void {
  const [{ openTime, column, before, after }] = cells
  const example = `${column} of ${formatTime(openTime)} was ${before} and is ${after}`
  warn(`${windowName(window)}: ${plural(cells.length, 'cell')} of earlier candles changed: ${example}.`, true)
}

/** Whether no candle can come into a window any more before one that follows it. */
function isOver(mirror: Mirror, window: WindowRef, batch: KlineBatch | undefined): boolean {
  const { asked = Infinity } = mirror.facts(window).get(window.startDate) ?? {}
  return asked >= windowSpan(window).endTime + CLOSING_MS || reachesEnd(window, batch?.lastOpenTime)
}
