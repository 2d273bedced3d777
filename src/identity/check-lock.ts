import { toSourceName } from '../candles/base-url.js'
import { KlinesError } from '../candles/errors.js'
import { seriesName } from '../candles/series.js'
import { formatRange } from '../candles/time-range.js'
import { windowSpan } from '../candles/windows.js'
import { findOfMirror, findOfSource } from '../engine/find-windows.js'
import { checkOrigin } from '../engine/plan.js'
import { Tally } from '../engine/report.js'
import { isOnline, openRun, type Plan, type Run, type SourceOptions, withRun } from '../engine/run.js'
import { fingerprintSeries } from './fingerprint.js'
import { compareEnds, compareYears, type Lock, readLock } from './lock-file.js'

/** Which lock to check (a file), and where its candles are. */
export interface LockCheckRequest extends SourceOptions {
  readonly lock: string
  /** Check the mirror alone, without any request. Default: download what is missing or can still change first. */
  readonly offline?: boolean | undefined
}

/** Whether the candles of a lock are here. */
export type LockCheck = Awaited<ReturnType<typeof checkLock>>

/**
 * Checks that the candles of a lock are exactly those of the mirror, after a download into it unless `offline`. Series, ranges and
 * source are those of the lock. Throws `bad_input` for what is no lock, `bad_option` for another source than its own, and what
 * `downloadKlines` throws: `incomplete` when a window could not be downloaded.
 *
 * @example
 * const { verdict, series } = await checkLock({ lock: 'klines.lock.json' })
 */
export async function checkLock(request: LockCheckRequest) {
  const lock = await readLock(request.lock)
  const baseUrl = findLockSource(lock, request)
  return withRun(openRun({ ...request, baseUrl }), async run => {
    const tally = new Tally(await planLock(lock, run), run)
    const fingerprints = await fingerprintSeries(run, tally, { afterFailure: true })
    const series = lock.series.map((locked, index) => {
      const { symbol, interval, range } = locked
      const found = fingerprints[index]
      const missing = tally.failures.filter(({ window }) => seriesName(window) === seriesName(locked))
      const spans = missing.map(({ window }) => windowSpan(window))
      // Nothing is known of years that may have candles in missing windows.
      const years = compareYears(locked, found).filter(({ year }) =>
        spans.every(({ startTime, endTime }) => endTime <= Date.UTC(year, 0) || startTime >= Date.UTC(year + 1, 0)),
      )
      // An end may lie in a missing window; without a candle, the years say all.
      const ends = found && missing.length === 0 ? compareEnds(locked, found) : []
      const isDifferent = years.length + ends.length > 0
      return { symbol, interval, range, locked, found, years, ends, isDifferent, missing }
    })
    /** The cells of locked candles that this run saw change. */
    const restated = tally.counts.flatMap(({ report: { symbol, interval, changes } }, index) => {
      const { from, to } = series[index].range
      const cells = changes.filter(({ openTime }) => openTime >= from && openTime < to)
      return cells.map(cell => ({ symbol, interval, ...cell }))
    })
    const isDifferent = series.some(one => one.isDifferent)
    const otherwise = tally.failures.length > 0 ? 'incomplete' : 'equal'
    const verdict: 'equal' | 'different' | 'incomplete' = isDifferent ? 'different' : otherwise
    // Without a candle, the check says more than an error.
    const download = run.source && (await tally.report({}, false, true))
    return { path: request.lock, baseUrl: lock.source, mirror: run.mirror.root, verdict, series, restated, download }
  })
}

/** The name of the source of a lock, or of the one that a request names; undefined for that of a mirror. Throws `bad_option`. */
export function findLockSource({ source }: Lock, request: LockCheckRequest): string | undefined {
  const { lock, baseUrl, mirror, offline } = request
  const named = baseUrl === undefined ? undefined : toSourceName(baseUrl)
  if (source !== null && named !== undefined && named !== source) {
    throw new KlinesError('bad_option', `${lock} has candles of ${source}, and this run of ${named}.`, {
      suggestions: [`The lock names its source: leave --base-url and KLINES_BASE_URL out, or name ${source}.`],
    })
  }
  if (source !== null || named !== undefined || (offline && mirror !== undefined)) return named ?? source ?? undefined
  throw new KlinesError('bad_option', `${lock} does not say where its candles come from.`, {
    suggestions: [offline ? 'Name the folder that has them with --mirror.' : 'Name the address with --base-url.'],
  })
}

/** The series of a lock, each with its own range. Throws what the lists of the source throw. */
export async function planLock({ series }: Lock, run: Run): Promise<Plan> {
  const fromTime = Math.min(...series.map(({ range }) => range.from))
  const toTime = Math.max(...series.map(({ range }) => range.to))
  // No end is named: each series has its own.
  const open = { named: { from: undefined, to: undefined }, endMoves: false, now: run.now() }
  const range = { fromTime, toTime, ...open, text: formatRange({ fromTime, toTime }) }
  const wanted = series.map(({ symbol, interval, range: { from, to } }) => {
    const series = { symbol, interval }
    return { series, label: series, range: { fromTime: from, toTime: to } }
  })
  await checkOrigin(run)
  const planned = isOnline(run) ? await findOfSource(wanted, range, run) : findOfMirror(wanted, range, run)
  return { range, series: planned, gone: [] }
}
