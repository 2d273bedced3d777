import { setImmediate as nextTurn } from 'node:timers/promises'
import { sha256 } from '../fs/checksum.js'
import { toSourceName } from '../http/base-url.js'
import { systemClock } from '../http/system-clock.js'
import { KlinesError } from '../klines/errors.js'
import type { Interval } from '../klines/intervals.js'
import { windowPath } from '../klines/paths.js'
import { seriesName, type WindowRef } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import { trimPeriod } from '../klines/text.js'
import { windowSpan } from '../klines/windows.js'
import type { Mirror } from '../mirror/mirror.js'
import { findRules } from '../trees/find-rules.js'
import { reachesEnd } from '../trees/window-ends.js'
import { incomplete } from './errors.js'
import { toWarn } from './events.js'
import { completeTree, EMPTY_WINDOW, listTree } from './sources/completeness.js'
import { findLeadingWindows, type LeadingWindows, NOT_CACHED } from './sources/first-candles.js'
import { openMirror } from './sources/open-source.js'
import { withoutName } from './sources/service-source.js'
import type { SourceOptions } from './sources/source-options.js'
import type { WindowFailure } from './sources/window-source.js'

const OUTDATED = 'does not reach its end, while later windows have candles, and may have got more since'
/** How many windows are looked at before the signal is checked again. */
const WINDOWS_PER_TURN = 256
const ADVICE = 'Nothing was written. Download them with klines download, then publish again.'

/** A mirror to make a complete tree, and where the first candles of its series are requested if need be. */
export interface PublishOptions extends Pick<SourceOptions, 'mirror' | 'retries' | 'timeout' | 'signal' | 'onEvent'> {
  /** The address that the mirror should have. Default: the one that it says, or without `mirror` the public instance. */
  readonly baseUrl?: string | undefined
  /**
   * The present, ms UTC. Default: the machine's clock.
   * @internal
   */
  readonly now?: number | undefined
}

/** The result of `publishMirror`. */
export interface PublishReport {
  /** Folder of the mirror; the tree is its folder `api`. */
  readonly mirror: string
  readonly baseUrl: string
  readonly symbols: readonly SymbolName[]
  readonly intervals: readonly Interval[]
  /** Number of windows in the tree, empty ones too. */
  readonly windows: number
  /** Number of empty windows that were written. */
  readonly emptyWritten: number
  /** Number of lists that were written. */
  readonly listsWritten: number
}

/**
 * Makes a mirror a complete static tree, which any static host can serve: lists, and empty windows where a list names one that
 * starts in the future or ends before the first candle of its series. The first candles are requested from the exchange, of other
 * mirrors such a window is missing. Nothing is written unless all is there, and no window may have got candles that come before the
 * newest one of its series.
 *
 * Throws `incomplete` for windows that are missing, corrupt or outdated, `bad_list`, `mirror_mismatch` for a mirror that does not say its
 * source, `window_missing` for one without a window, and `mirror_unusable`.
 */
export async function publishMirror(options: PublishOptions): Promise<PublishReport> {
  const { signal, onEvent } = options
  const warn = toWarn(options)
  const now = options.now ?? systemClock.now()
  const mirror = openMirror(options)
  const baseUrl = findSource(mirror, options.baseUrl, warn)
  const symbols = mirror.contents.symbols()
  if (symbols.length === 0) {
    throw nothingToPublish(`The mirror ${mirror.root} has no window to publish.`)
  }
  const tree = listTree(mirror, symbols, now)
  const { lists, windows } = tree
  const failures: WindowFailure[] = []
  const [future, missing, open]: WindowRef[][] = [[], [], []]
  /** The open time of the last candle of each series, ms UTC. */
  const newest = new Map<string, number>()
  /** The times of windows that other ones may be told, by path, where those of their files are different. */
  const times = new Map<string, number>()
  for (const [index, window] of windows.entries()) {
    if (index % WINDOWS_PER_TURN === 0) {
      await nextTurn()
      signal?.throwIfAborted()
    }
    onEvent?.({ type: 'progress', done: index + 1, total: windows.length })
    const read = mirror.windows.readInPlace(window)
    if (read.state === 'missing') (windowSpan(window).startTime > now ? future : missing).push(window)
    else if (read.state === 'corrupt') {
      const reason = trimPeriod(withoutName(read.error.message, window))
      failures.push(fail(window, `corrupt in the mirror: ${reason}`))
    } else {
      const { lastOpenTime } = read.batch
      if (lastOpenTime !== undefined) newest.set(seriesName(window), lastOpenTime)
      if (reachesEnd(window, lastOpenTime)) continue
      const recorded = mirror.windows.timesOf(window, read)
      if (!mirror.windows.isFinal(window, read.batch, recorded)) open.push(window)
      const shown = mirror.windows.lastModified(window, read.batch, read, recorded)
      if (Math.abs(shown - read.mtimeMs) >= 1000) times.set(windowPath(window), shown)
    }
  }
  const latest = Math.max(...newest.values())
  if (latest > now) throw slowClock(mirror, now, latest)
  const isPassed = (window: WindowRef) => windowSpan(window).endTime <= (newest.get(seriesName(window)) ?? -Infinity)
  failures.push(...open.filter(isPassed).map(window => fail(window, OUTDATED)))
  const leading = await findLeading(mirror, baseUrl, missing, options)
  failures.push(...leading.failures)
  if (failures.length > 0) throw incomplete(failures, windows.length, { advice: ADVICE, offline: true })
  mirror.upkeep.checkWritable(baseUrl, now)
  // A static host shows the times of files.
  for (const [path, time] of times) mirror.files.setTime(path, time)
  const empty = [...leading.empty, ...future]
  const listsWritten = completeTree(mirror, tree, empty, now)
  const content = { size: EMPTY_WINDOW.length, sha256: sha256(EMPTY_WINDOW), time: now, confirmed: now }
  for (const window of leading.empty) mirror.record.append({ kind: 'window', path: windowPath(window), ...content })
  const counts = { windows: windows.length, emptyWritten: empty.length, listsWritten }
  return { mirror: mirror.root, baseUrl, symbols, intervals: [...lists.keys()], ...counts }
}

/** Windows of the future cannot be told from missing ones by a clock that is behind. */
function slowClock({ root }: Mirror, now: number, newest: number): KlinesError {
  const [clock, candle] = [now, newest].map(time => new Date(time).toISOString())
  const message = `This machine's clock says ${clock}, and the mirror ${root} has a candle of ${candle}. Nothing was written.`
  return new KlinesError('incomplete', message, { suggestions: ['Set the clock, then publish again.'] })
}

/** The base address of a mirror. Throws `mirror_mismatch` when it is unknown or another one than `expected`. */
function findSource(mirror: Mirror, expected: PublishOptions['baseUrl'], warn: (warning: string) => void): string {
  if (expected !== undefined) mirror.upkeep.checkBase(toSourceName(expected))
  const meta = mirror.upkeep.readMeta(warn)
  if (meta) return meta.baseUrl
  if (!mirror.files.exists) throw nothingToPublish(`There is no mirror at ${mirror.root}.`)
  const message = `${mirror.root} does not say where its candles come from, so it cannot be published.`
  throw new KlinesError('mirror_mismatch', message, {
    suggestions: ['klines download with the same `mirror` and its `baseUrl` makes it a mirror of that service.'],
    data: { mirror: mirror.root },
  })
}

function nothingToPublish(message: string): KlinesError {
  return new KlinesError('window_missing', message, {
    suggestions: ['Download candles first: klines download SYMBOL -i INTERVAL, with the same `mirror`.'],
  })
}

/** The missing windows that are empty for certain, and the others. A series without any window was never downloaded. */
async function findLeading(
  mirror: Mirror,
  baseUrl: string,
  missing: readonly WindowRef[],
  options: PublishOptions,
): Promise<LeadingWindows> {
  const isCandidate = (window: WindowRef) => findRules(baseUrl).rendersAnswers && mirror.contents.hasSeries(window)
  const candidates = missing.filter(isCandidate)
  const others = missing.filter(window => !isCandidate(window)).map(window => fail(window, NOT_CACHED))
  if (candidates.length === 0) return { empty: [], failures: others }
  const { empty, failures } = await findLeadingWindows(mirror, candidates, { ...options, baseUrl })
  return { empty, failures: [...others, ...failures] }
}

function fail(window: WindowRef, reason: string): WindowFailure {
  return { window, status: 'failed', reason }
}
