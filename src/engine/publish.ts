import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { KlinesError } from '../candles/errors.js'
import { EXCHANGE_INTERVALS, type Interval } from '../candles/intervals.js'
import { SYMBOLS_PATH, startDatesPath } from '../candles/paths.js'
import { type Series, type WindowRef, windowOf } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import { windowSpan } from '../candles/windows.js'
import { lastModified, type Mirror } from '../mirror/mirror.js'
import { firstCandle, newestCandle } from '../mirror/status.js'
import { reachesEnd } from '../mirror/window-state.js'
import { Kernel } from '../rows/wasm/kernel.js'
import type { Source } from '../sources/source.js'
import { incomplete, nothingCached } from './errors.js'
import { knownDates, request } from './lists.js'
import type { WindowFailure } from './outcome.js'
import { NOT_CACHED } from './read.js'
import { WINDOWS_A_TURN } from './refresh.js'
import { openMirror, openRun, type Run, type SourceOptions, withRun } from './run.js'

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

const EMPTY = Buffer.from('[]')
const SHORT = 'does not reach its end, and later candles are there: it was not downloaded since'

/**
 * Makes a mirror a complete static tree, which any web host can serve: the lists, `[]` for windows of the future and before the first
 * candle, and the times of files as the server would say. Whether a missing window lies before the first candle of a series of the exchange
 * takes a request. Nothing is written unless all is there. Throws `incomplete` while a window is missing or corrupt, or an open one does
 * not reach its end before the newest candle of its series; `window_missing` for a mirror without a window, and `mirror_unusable`.
 */
export async function publishMirror(options: Omit<SourceOptions, 'refresh'>): Promise<PublishReport> {
  const { source: baseUrl, root, exists } = openMirror(options)
  if (baseUrl === undefined && exists)
    throw new KlinesError(
      'mirror_mismatch',
      `${root} does not say where its candles come from, so it cannot be published.`,
      {
        suggestions: ['klines download with the same --mirror and its --base-url makes it a mirror of that service.'],
      },
    )
  return withRun(openRun({ ...options, mirror: root, baseUrl }), run => publish(run))
}

async function publish(run: Run<Source>): Promise<PublishReport> {
  const { mirror, now, emit, signal, source } = run
  const symbols = mirror.symbols()
  if (symbols.length === 0) throw nothingCached(`The mirror ${mirror.root} has no window to publish.`, mirror)
  const intervals = EXCHANGE_INTERVALS.filter(one => mirror.startDates(one) || mirror.symbols([one]).length > 0)
  const tree = intervals.flatMap(interval => symbols.map(symbol => findWindows(mirror, { symbol, interval }, now())))
  const total = tree.reduce((sum, { windows }) => sum + windows.length, 0)
  const kernel = new Kernel()
  const failures: WindowFailure[] = []
  const empty: WindowRef[] = []
  const times: { readonly window: WindowRef; readonly time: number }[] = []
  let done = 0
  for (const { series, windows } of tree) {
    const newest = newestCandle(mirror, series) ?? Number.NEGATIVE_INFINITY
    if (newest > now()) throw slowClock(mirror, now(), newest)
    for (const window of windows) {
      if (++done % WINDOWS_A_TURN === 0) await nextTurn()
      signal.throwIfAborted()
      emit({ type: 'progress', done, total })
      const read = mirror.read(window, kernel)
      if (read.state === 'missing' && (await isEmpty(window, run))) empty.push(window)
      else if (read.state !== 'cached') {
        const reason = read.state === 'missing' ? NOT_CACHED : `corrupt in the mirror: ${read.reason}`
        failures.push({ window, status: 'failed', reason })
      } else {
        const { endTime } = windowSpan(window)
        const state = mirror.state(window, read)
        const isShort = !reachesEnd(window, read.batch.lastOpenTime) && endTime <= newest
        if (isShort && state === 'open') failures.push({ window, status: 'failed', reason: SHORT })
        const time = lastModified(window, read.batch, mirror.factsOf(window, read), state)
        if (Math.abs(time - read.mtimeMs) >= 1000) times.push({ window, time })
      }
    }
  }
  const advice = 'Nothing was written. Download them with klines download, then publish again.'
  if (failures.length > 0) throw incomplete(failures, total, { offline: true, advice })
  const facts = { size: EMPTY.length, sha256: EMPTY_SHA256, rendered: now(), asked: now() }
  for (const window of empty) mirror.store(window, EMPTY, facts, source.name)
  // A static host shows the times of files.
  for (const { window, time } of times) mirror.setTime(window, time)
  // Lists come after the windows that they name.
  const changed = intervals
    .map(interval => ({ interval, names: knownDates(mirror, interval, now()) }))
    .filter(({ interval, names }) => !isDeepStrictEqual(mirror.startDates(interval), names))
  const lists: [path: string, names: string[]][] = changed.map(({ interval, names }) => [
    startDatesPath(interval),
    names,
  ])
  const hasSymbols = isDeepStrictEqual(mirror.listedSymbols(), symbols)
  if (!hasSymbols) lists.push([SYMBOLS_PATH, symbols])
  for (const [path, names] of lists) mirror.storeList(path, Buffer.from(JSON.stringify(names)), now(), source.name)
  const written = { emptyWritten: empty.length, listsWritten: lists.length }
  return { mirror: mirror.root, baseUrl: source.name, symbols, intervals, windows: total, ...written }
}

/** SHA-256 of `[]`. */
const EMPTY_SHA256 = '4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'

/** All windows that a series of the tree should have. */
function findWindows(mirror: Mirror, series: Series, now: number): { series: Series; windows: WindowRef[] } {
  const dates = new Set([...knownDates(mirror, series.interval, now), ...mirror.dates(series)])
  return { series, windows: [...dates].sort().map(startDate => windowOf(series, startDate)) }
}

/** Whether a window without a file is empty for certain: it lies in the future, or before the first candle that the exchange has. */
async function isEmpty(window: WindowRef, { source, mirror, now, signal }: Run<Source>): Promise<boolean> {
  const { startTime, endTime } = windowSpan(window)
  if (startTime > now()) return true
  // A series without any window was never downloaded.
  if (!source.firstCandle || !mirror.has(window)) return false
  if ((firstCandle(mirror, window) ?? startTime) < startTime) return false
  const first = await request(source, 'the first candle', source.firstCandle(window, signal))
  return first !== undefined && endTime <= first
}

/** Windows of the future cannot be told from missing ones by a clock that is behind. */
function slowClock({ root }: Mirror, now: number, newest: number): KlinesError {
  const [clock, candle] = [now, newest].map(time => new Date(time).toISOString())
  const message = `This machine's clock says ${clock}, and the mirror ${root} has a candle of ${candle}. Nothing was written.`
  return new KlinesError('incomplete', message, { suggestions: ['Set the clock, then publish again.'] })
}
