import { toSourceName } from '../http/base-url.js'
import { systemClock } from '../http/system-clock.js'
import { isKlinesError, KlinesError } from '../klines/errors.js'
import type { Interval } from '../klines/intervals.js'
import { windowPath } from '../klines/paths.js'
import type { WindowRef } from '../klines/series.js'
import type { SymbolName } from '../klines/symbols.js'
import { trimPeriod } from '../klines/text.js'
import type { Mirror } from '../mirror/mirror.js'
import { findRules } from '../trees/find-rules.js'
import { mayHaveGrown, reachesEnd } from '../trees/window-ends.js'
import { incomplete } from './errors.js'
import { toWarn } from './events.js'
import { completeTree, findTreeGaps } from './sources/completeness.js'
import { findLeadingWindows, type LeadingWindows, NOT_CACHED } from './sources/first-candles.js'
import { openMirror } from './sources/open-source.js'
import { withoutName } from './sources/service-source.js'
import type { SourceOptions } from './sources/source-options.js'
import type { WindowFailure } from './sources/window-source.js'

const OUTDATED = 'stored before its end, and not downloaded since'
const UNRECORDED = "not as the mirror's record has it, and not downloaded since"
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
 * starts in the future or ends before the first candle of its series; `complete: true` in `mirror.json` comes last. The first
 * candles are requested from the exchange, of other mirrors such a window is missing. Nothing is written unless all is there.
 *
 * Throws `incomplete` for windows that are missing or corrupt, `bad_list`, `mirror_mismatch` for a mirror that does not say its
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
  const failures: WindowFailure[] = []
  /** The times of windows that other ones may be told, by path, where those of their files are different. */
  const times = new Map<string, number>()
  let newest = Number.NEGATIVE_INFINITY
  const visit = (window: WindowRef, done: number, total: number) => {
    const read = mirror.windows.readInPlace(window)
    if (read.state === 'cached') {
      const { lastOpenTime } = read.batch
      newest = Math.max(newest, lastOpenTime ?? newest)
      if (!reachesEnd(window, lastOpenTime)) {
        const recorded = mirror.windows.timesOf(window, read)
        const time = recorded && mirror.windows.renderedTime(recorded)
        const fault = findFault(window, lastOpenTime === undefined, { time, fileTime: read.mtimeMs, now })
        if (fault) failures.push(fail(window, fault))
        const shown = mirror.windows.lastModified(window, read.batch, read, recorded)
        if (Math.abs(shown - read.mtimeMs) >= 1000) times.set(windowPath(window), shown)
      }
    }
    if (read.state === 'corrupt') {
      const reason = trimPeriod(withoutName(read.error.message, window))
      failures.push(fail(window, `corrupt in the mirror: ${reason}`))
    }
    onEvent?.({ type: 'progress', done, total })
  }
  const gaps = await findTreeGaps(mirror, { symbols, now, signal, visit })
  if (newest > now) throw slowClock(mirror, now, newest)
  if (gaps.missing.length > 0) admitHoles(mirror, now)
  const leading = await findLeading(mirror, baseUrl, gaps.missing, options)
  failures.push(...leading.failures)
  if (failures.length > 0) throw incomplete(failures, gaps.windows, { advice: ADVICE, offline: true })
  mirror.upkeep.checkWritable(baseUrl, now)
  const empty = [...leading.empty, ...gaps.future]
  // A static host shows the times of files.
  for (const [path, time] of times) mirror.files.setTime(path, time)
  const listsWritten = completeTree(mirror, gaps, empty, now)
  const { lists, windows } = gaps
  const counts = { windows, emptyWritten: empty.length, listsWritten }
  return { mirror: mirror.root, baseUrl, symbols, intervals: [...lists.keys()], ...counts }
}

/** Why a window whose last candle does not reach its end may lack candles by now; undefined when it lacks none. */
function findFault(
  window: WindowRef,
  isEmpty: boolean,
  { time, fileTime, now }: { readonly time: number | undefined; readonly fileTime: number; readonly now: number },
): string | undefined {
  const mayLack = (time: number) => mayHaveGrown(window, { isEmpty, time }, now)
  // A copy is never older than what it is a copy of.
  if (mayLack(time ?? fileTime)) return OUTDATED
  return time === undefined && mayLack(Number.NEGATIVE_INFINITY) ? UNRECORDED : undefined
}

/** A mirror that lacks windows is not complete, whatever made it say so. */
function admitHoles(mirror: Mirror, now: number): void {
  try {
    mirror.upkeep.giveUpCompleteness(now)
  } catch (error) {
    // The missing windows are the error that matters.
    if (!isKlinesError(error, 'mirror_unusable')) throw error
  }
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
