import { join } from 'node:path'
import { pMapIterable } from 'p-map'
import { isKlinesError } from '../candles/errors.js'
import { windowPath } from '../candles/paths.js'
import { seriesName, type WindowRef, windowName } from '../candles/series.js'
import { formatDuration, formatTime, plural } from '../candles/text.js'
import { windowSpan } from '../candles/windows.js'
import { listChanges } from '../mirror/changes.js'
import type { WindowFailure } from '../mirror/errors.js'
import { type CachedWindow, fileOf, type WindowRead } from '../mirror/mirror.js'
import { newestCandle } from '../mirror/status.js'
import { turnGiver } from '../mirror/turns.js'
import { SETTLING_MS } from '../mirror/window-state.js'
import { diffBatches } from '../rows/diff.js'
import { decodeWindow } from '../rows/window-codec.js'
import { FetchError } from '../sources/fetch-error.js'
import type { Fetched, Source } from '../sources/source.js'
import {
  isBeforeFirst,
  type Run,
  type SeriesPlan,
  type SettledWindow,
  type WindowOutcome,
  type WindowResult,
  type WindowStream,
} from './run.js'

/**
 * Makes the windows of some series current, a few at once, and yields them in order: final ones are read, open ones revalidated, missing
 * and corrupt ones fetched. With `countOnly`, final ones that the index knows are not read. The index of a series is written when it is
 * done, that of the last one when the run closes if its reader stops there.
 */
export async function* refresh(run: Run<Source>, plans: readonly SeriesPlan[], countOnly = false): WindowStream {
  const { mirror, signal, concurrency } = run
  const settled = countOnly ? await findSettled(run, plans) : new Map<WindowRef, SettledWindow>()
  const others = plans.flatMap(({ windows, listedFrom }) =>
    windows.filter(window => !settled.has(window)).map(window => ({ window, listedFrom })),
  )
  // No more windows than these wait for a slow consumer.
  const limits = { concurrency, backpressure: 2 * concurrency }
  const refreshed = pMapIterable(others, ({ window, listedFrom }) => refreshWindow(run, window, listedFrom), limits)
  const results = refreshed[Symbol.asyncIterator]()
  const giveTurn = turnGiver(signal)
  for (const plan of plans) run.source.archive?.expect(missingWindows(run, plan))
  try {
    for (const plan of plans) {
      const ofSeries = async function* () {
        for (const window of plan.windows) {
          await giveTurn()
          yield settled.get(window) ?? ((await results.next()).value as WindowOutcome)
        }
      }
      yield* findEnds(run, plan, ofSeries())
      mirror.flush(plan.series)
    }
  } finally {
    await results.return?.()
  }
  return undefined
}

/** The windows that cost one look at their files: final, counted in the index, and with all of their candles in the range. */
async function findSettled(run: Run, plans: readonly SeriesPlan[]): Promise<Map<WindowRef, SettledWindow>> {
  const found = new Map<WindowRef, SettledWindow>()
  if (run.refresh || run.readOnly) return found
  const giveTurn = turnGiver(run.signal)
  for (const { series, windows, range } of plans) {
    const settled = run.mirror.settled(series)
    for (const window of windows) {
      await giveTurn()
      // What became of a window in this run is said once more.
      if (run.done.has(windowPath(window))) continue
      const facts = settled(window)
      if (!facts) continue
      const { first = Infinity, last = -Infinity } = facts
      if (first >= range.fromTime && last < range.toTime) found.set(window, { window, status: 'cached', facts })
    }
  }
  return found
}

/** The windows of a plan without a file that may have candles. */
export function missingWindows({ mirror }: Run, plan: SeriesPlan): WindowRef[] {
  const files = new Set(mirror.files(plan.series))
  return plan.windows.filter(window => !files.has(window.startDate) && !isBeforeFirst(plan, window))
}

/**
 * A source that has no file of any window before the first one that it has of a series begins there: a partial copy. Where the range has no
 * end, it also ends with the last one that it has. Such windows are absent, with a note; one between two others is a failure, and so are
 * all of a series of which the source has none.
 */
async function* findEnds(
  run: Run<Source>,
  { series, range }: SeriesPlan,
  windows: AsyncGenerator<WindowOutcome>,
): AsyncGenerator<WindowOutcome> {
  const { source, mirror, now, warn, done } = run
  const waiting: WindowFailure[] = []
  /** The one before those that wait. */
  let last: WindowOutcome | undefined
  function* toAbsent(): Generator<WindowOutcome> {
    for (const { window } of waiting.splice(0)) {
      done.set(windowPath(window), { status: 'absent' })
      yield { window, status: 'absent' }
    }
  }
  for await (const result of windows) {
    // Without a file there, an exchange is at another address.
    if (result.status === 'failed' && result.isAbsent && source.rules.kind !== 'exchange') {
      waiting.push(result)
      continue
    }
    if (!last && waiting.length > 0 && result.status !== 'failed') {
      const [first, before] = [result.window.startDate, plural(waiting.length, 'window')]
      warn(`${source.name} begins ${seriesName(series)} with ${first}, and has none of ${before} before that.`)
      yield* toAbsent()
    }
    yield* waiting.splice(0)
    last = result
    yield result
  }
  if (!last || last.status === 'failed' || waiting.length === 0 || range.toTime !== Infinity) return yield* waiting
  const newest = newestCandle(mirror, series)
  const age = newest && `; its newest candle is of ${formatTime(newest)} UTC, ${formatDuration(now() - newest)} old`
  const after = plural(waiting.length, 'window')
  warn(
    `${source.name} ends ${seriesName(series)} with ${last.window.startDate}, and has none of ${after} after that${age ?? ''}.`,
  )
  yield* toAbsent()
}

/** Makes one window current. `listedFrom`: the first startDate that the source lists: cached windows before it stay. */
export async function refreshWindow(run: Run<Source>, window: WindowRef, listedFrom = ''): Promise<WindowOutcome> {
  const { mirror, signal, done } = run
  signal.throwIfAborted()
  const read = mirror.read(window)
  const cached = read.state === 'cached' ? read : undefined
  const before = cached && done.get(windowPath(window))
  if (before && before.status !== 'absent')
    return { window, batch: cached.batch, bytes: cached.bytes, status: before.status, change: before.change }
  try {
    const work = () => refreshCached(run, window, read, listedFrom)
    const result = await (run.once ? run.once(windowPath(window), work) : work())
    done.set(windowPath(window), { status: result.status, change: result.change })
    return result
  } catch (error) {
    if (!(error instanceof FetchError || isKlinesError(error, 'bad_window'))) throw error
    const { status, timedOut } = error as Partial<FetchError>
    if (run.readOnly && status === 404) return { window, status: 'absent' }
    const reason = error.message.replace(`${windowName(window)}: `, '')
    return { window, status: 'failed', reason, isAbsent: status === 404 && cached === undefined, timedOut }
  }
}

async function refreshCached(
  run: Run<Source>,
  window: WindowRef,
  read: WindowRead,
  listedFrom: string,
): Promise<WindowResult> {
  const { source, mirror, signal, refresh, readOnly, follows, now, warn } = run
  const cached = read.state === 'cached' ? read : undefined
  const facts = cached && (readOnly ? mirror.factsOf(window, cached) : mirror.confirm(window, cached))
  const keep = ({ batch, bytes }: CachedWindow, status: WindowResult['status']) => ({ window, status, batch, bytes })
  if (cached && !refresh && !readOnly && mirror.state(window, cached, facts) === 'final') return keep(cached, 'cached')
  if (cached && !readOnly && window.startDate < listedFrom) return keep(cached, 'retained')
  if (!readOnly) mirror.checkWritable(window)
  if (read.state === 'corrupt') warn(`Corrupt in the mirror, downloaded again: ${windowName(window)}: ${read.reason}.`)
  // A day after its end, a window is asked for as a whole once more, and is final then.
  const isLate = now() >= windowSpan(window).endTime + SETTLING_MS
  const isKnown = cached !== undefined && facts?.last !== undefined
  const fetched =
    follows && source.fetchOn && isKnown && !isLate
      ? await source.fetchOn(window, cached, signal)
      : await source.fetch(window, refresh ? undefined : facts, signal)
  if (fetched.bytes === undefined) {
    if (!cached || !facts) throw new FetchError('invalid', 'status 304 for a window that is not cached')
    if (!readOnly) mirror.note(window, { ...facts, asked: fetched.asked })
    return keep(cached, 'revalidated')
  }
  // A 3d window must be on the grid of the candles that the index knows.
  const anchor = mirror.gridAnchor(window)
  if (anchor !== undefined) decodeWindow(fetched.bytes, window, anchor)
  if (readOnly) return { window, status: 'fetched', batch: fetched.batch, bytes: fetched.bytes }
  return storeWindow(run, window, fetched)
}

/**
 * Stores a new version of a window, and what it changes of the cached one, which stays where the new one lacks candles and does not go on:
 * it may be half of one.
 */
function storeWindow(run: Run<Source>, window: WindowRef, { bytes, batch, rendered, asked }: Fetched): WindowResult {
  const { source, mirror, now, warn } = run
  // Another run may have stored a newer one.
  const read = mirror.read(window)
  const cached = read.state === 'cached' ? read : undefined
  const difference = cached && diffBatches(cached.batch, batch)
  const goesOn = (batch.lastOpenTime ?? -Infinity) > (cached?.batch.lastOpenTime ?? -Infinity)
  if (cached && difference && difference.lost.length > 0 && !goesOn) {
    const lacks = `the new version lacks ${plural(difference.lost.length, 'cached candle')}`
    const advice = `remove ${join(mirror.root, windowPath(window))} and download again`
    warn(`${windowName(window)}: ${lacks}, so the cached window stays. To take the new version, ${advice}.`, true)
    return { window, status: 'retained', batch: cached.batch, bytes: cached.bytes }
  }
  const cells = difference ? listChanges(cached.batch, difference) : []
  mirror.store(window, bytes, { ...fileOf(window, { batch, bytes }), rendered, asked }, source.name)
  // What could not be stored is no change yet: the next run will see it again.
  mirror.appendChanges(window, cells, now())
  const change = difference && { added: difference.added, cells }
  // An exchange, and a service without file times, send a window whole each time.
  const isSame = !run.refresh && cached && Buffer.compare(cached.bytes, bytes) === 0
  return { window, status: isSame ? 'revalidated' : 'fetched', batch, bytes, change }
}
