import { KlinesError } from '../candles/errors.js'
import { EXCHANGE_INTERVALS, type Interval } from '../candles/intervals.js'
import { SYMBOLS_PATH, startDatesPath } from '../candles/paths.js'
import { type Series, type WindowRef, windowOf } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import { formatTime } from '../candles/text.js'
import { windowSpan } from '../candles/windows.js'
import { sha256 } from '../rows/fingerprint.js'
import { Kernel } from '../rows/wasm/kernel.js'
import { incomplete, NOT_CACHED, type WindowFailure } from './errors.js'
import { lastModified, type Mirror } from './mirror.js'
import { laterSinces } from './series-index.js'
import { firstCandle, knownDates, mirrorSymbols, newestCandle } from './status.js'
import { turnGiver } from './turns.js'
import { nothingCached } from './user-mirrors.js'
import { reachesEnd } from './window-state.js'

/** The result of `publishMirror`. */
export interface PublishReport {
  /** Folder of the mirror; the tree is its folder `api`. */
  readonly mirror: string
  readonly baseUrl: string
  readonly symbols: readonly SymbolName[]
  readonly intervals: readonly Interval[]
  /** Of the tree, empty ones too. */
  readonly windows: number
  readonly emptyWritten: number
  readonly listsWritten: number
}

const EMPTY = Buffer.from('[]')
const SHORT = 'does not reach its end, and later candles are there: it was not downloaded since'

interface Publishing {
  readonly mirror: Mirror
  readonly baseUrl: string
  /** The description of the tree, which has these intervals. */
  readonly describe: (intervals: readonly Interval[]) => { readonly path: string; readonly content: object }
  /** Asks the exchange when the first candle of a series opens, ms UTC; undefined for another source. */
  readonly firstCandle: ((series: Series) => Promise<number | undefined>) | undefined
  readonly now: () => number
  readonly emit: (event: { type: 'progress'; done: number; total: number }) => void
  readonly signal: AbortSignal
}

export async function publishTree(run: Publishing): Promise<PublishReport> {
  const { mirror, now, baseUrl } = run
  const symbols = mirrorSymbols(mirror)
  if (symbols.length === 0) throw nothingCached(`The mirror ${mirror.root} has no window to publish.`, mirror)
  const intervals = EXCHANGE_INTERVALS.filter(one => mirror.startDates(one) || mirror.symbols([one]).length > 0)
  const { total, empty, times } = await inspect(run, symbols, intervals)
  const facts = { size: EMPTY.length, sha256: sha256(EMPTY), candles: 0, rendered: now(), asked: now() }
  for (const window of [...empty, ...times.map(({ window }) => window)]) mirror.checkWritable(window)
  for (const window of empty) mirror.store(window, EMPTY, facts, baseUrl)
  // A static host shows the times of files.
  for (const { window, time } of times) mirror.setTime(window, time)
  // Lists come after the windows that they name.
  const dates = intervals.map(one => ({ path: startDatesPath(one), content: knownDates(mirror, one, now()) }))
  let listsWritten = 0
  for (const { path, content } of [...dates, { path: SYMBOLS_PATH, content: symbols }, run.describe(intervals)]) {
    const bytes = Buffer.from(JSON.stringify(content))
    const file = mirror.readFile(path)
    if (file.state === 'file' && file.bytes.equals(bytes)) continue
    mirror.storeList(path, bytes, now(), baseUrl)
    if (Array.isArray(content)) listsWritten++
  }
  const written = { emptyWritten: empty.length, listsWritten }
  return { mirror: mirror.root, baseUrl, symbols, intervals, windows: total, ...written }
}

/** Which windows of the tree are to be written as empty, and which files need another time, ms UTC. */
async function inspect(run: Publishing, symbols: readonly SymbolName[], intervals: readonly Interval[]) {
  const { mirror, now, emit, signal } = run
  const tree = intervals.flatMap(interval =>
    symbols.map(symbol => {
      const series = { symbol, interval }
      const dates = new Set([...knownDates(mirror, interval, now()), ...mirror.dates(series)])
      return { series, windows: [...dates].sort().map(startDate => windowOf(series, startDate)) }
    }),
  )
  const total = tree.reduce((sum, { windows }) => sum + windows.length, 0)
  const kernel = new Kernel()
  const failures: WindowFailure[] = []
  const empty: WindowRef[] = []
  const times: { readonly window: WindowRef; readonly time: number }[] = []
  const giveTurn = turnGiver(signal)
  let done = 0
  for (const { series, windows } of tree) {
    const newest = newestCandle(mirror, series) ?? -Infinity
    // A clock that is behind takes missing windows for those of the future.
    if (newest > now()) {
      const clock = `This machine's clock says ${formatTime(now())} UTC`
      throw new KlinesError('incomplete', `${clock}, and ${mirror.root} has a candle of ${formatTime(newest)}.`, {
        suggestions: ['Set the clock, then publish again.'],
      })
    }
    const sinces = laterSinces(mirror.facts(series))
    for (const window of windows) {
      await giveTurn()
      emit({ type: 'progress', done: ++done, total })
      const fail = (reason: string) => failures.push({ window, status: 'failed', reason })
      const read = mirror.read(window, kernel)
      if (read.state === 'corrupt') fail(`corrupt in the mirror: ${read.reason}`)
      else if (read.state === 'missing') {
        if (await isEmpty(window, run)) empty.push(window)
        else fail(read.reason ?? NOT_CACHED)
      } else {
        const facts = mirror.factsOf(window, read)
        const state = mirror.state(window, read, facts)
        const isShort = !reachesEnd(window, read.batch.lastOpenTime) && windowSpan(window).endTime <= newest
        // Asked for since the service had later candles, it is as the service has it, whenever that was rendered.
        const wentOn = facts && (sinces.get(window.startDate) ?? Infinity) <= facts.asked
        if (isShort && state === 'open' && !wentOn) fail(SHORT)
        const time = lastModified(window, read.batch, facts, state)
        if (Math.abs(time - read.mtimeMs) >= 1000) times.push({ window, time })
      }
    }
  }
  const advice = 'Nothing was written. Download them with klines download, then publish again.'
  if (failures.length > 0) throw incomplete(failures, total, { offline: true, advice })
  return { total, empty, times }
}

/** Whether a window without a file is empty for certain. */
async function isEmpty(window: WindowRef, { mirror, now, firstCandle: ask }: Publishing): Promise<boolean> {
  const { startTime, endTime } = windowSpan(window)
  if (startTime > now()) return true
  // A series without any window was never downloaded.
  if (!ask || !mirror.has(window)) return false
  if ((firstCandle(mirror, window) ?? startTime) < startTime) return false
  const first = await ask(window)
  return first !== undefined && endTime <= first
}
