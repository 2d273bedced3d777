import { isExchange, SAMPLE, toArchiveAddress, toSourceName } from '../candles/base-url.js'
import { windowPath } from '../candles/paths.js'
import type { Series, SeriesLabel, WindowRef } from '../candles/series.js'
import type { SymbolName } from '../candles/symbols.js'
import type { RequestedRange, TimeRange } from '../candles/time-range.js'
import { windowSpan } from '../candles/windows.js'
import type { WindowFailure } from '../mirror/errors.js'
import type { Mirror } from '../mirror/mirror.js'
import { type MirrorOptions, openMirror } from '../mirror/user-mirrors.js'
import type { WindowFacts } from '../mirror/window-state.js'
import { checkValue } from '../options.js'
import type { ChangedCell } from '../rows/diff.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import type { TargetInterval } from '../rows/target-interval.js'
import type { NetworkActivity } from '../sources/fetcher.js'
import { openSource } from '../sources/open.js'
import { limitPolicy, RETRY_POLICY, type RequestLimits, type RetryPolicy } from '../sources/retry.js'
import { sampleSource } from '../sources/sample.js'
import type { Source } from '../sources/source.js'

/** The windows of one series that a range needs, ascending. */
export interface SeriesPlan {
  readonly series: Series
  /** The candles that come of it: the series itself, or longer ones. */
  readonly label: SeriesLabel
  readonly resampleTo?: TargetInterval | undefined
  /** Open times of the candles that are needed, ms UTC; those of the last longer candle may end after the requested range. */
  readonly range: TimeRange
  readonly windows: readonly WindowRef[]
  /** The first startDate that the source lists, if its list was needed: older cached windows stay. */
  readonly listedFrom?: string | undefined
  /** When the first candle of the exchange opens, ms UTC, if it was asked for: windows before it need no request. */
  readonly firstCandle?: number | undefined
}

/** What a run needs. Plain data. */
export interface Plan {
  readonly range: RequestedRange
  /** In the order of the request. */
  readonly series: readonly SeriesPlan[]
  /** Symbols of the mirror that the source does not know any more: named at the end, exit 3. */
  readonly gone: readonly SymbolName[]
}

export type UnplannedSeries = Omit<SeriesPlan, 'windows'>

/** Whether a window is over before the exchange has candles: it is empty without a request. */
export function isBeforeFirst({ firstCandle = -Infinity }: SeriesPlan, window: WindowRef): boolean {
  return windowSpan(window).endTime <= firstCandle
}

export interface WindowResult {
  readonly window: WindowRef
  /** `retained`: the new version lacks candles, or the source does not list the window any more. */
  readonly status: 'cached' | 'fetched' | 'revalidated' | 'retained'
  readonly batch: KlineBatch
  /** Of its file. */
  readonly bytes: Uint8Array
  /** How a fetched window differs from the cached one; undefined when none was cached. */
  readonly change?: WindowDifference | undefined
}

export interface WindowDifference {
  /** Open times of candles that were not cached, ms UTC. */
  readonly added: readonly number[]
  /** Changed cells, withdrawn candles, and candles that were added before the last cached one. */
  readonly cells: readonly ChangedCell[]
}

/** A final window that was not read, since the index says what is in it. */
export type SettledWindow = { readonly window: WindowRef; readonly status: 'cached'; readonly facts: WindowFacts }

/** What became of a window. `absent`: the source has no window of the series before it, or after it, nor this one. */
export type WindowOutcome =
  | WindowResult
  | SettledWindow
  | WindowFailure
  | { readonly window: WindowRef; readonly status: 'absent' }

export type WindowStream = AsyncGenerator<WindowOutcome, undefined, undefined>

const DEFAULT_CONCURRENCY = 16
/** 4 at once are some 40 requests a second, of the 50 that the exchange allows to all programs of an address. */
const EXCHANGE_CONCURRENCY = 4

type ProgressEvent = { readonly type: 'progress'; readonly done: number; readonly total: number }

export interface WindowEvent extends ProgressEvent {
  readonly window: WindowRef
  readonly status: WindowOutcome['status']
  readonly change: WindowDifference | undefined
}

/**
 * What happens in a run. `plan`: the windows are known, and what the missing ones take by the limits of the service. `warning`: what a user
 * should know, each text once; an urgent one also who wants to hear little. `network`: a request has ended, is retried or has to wait.
 */
export type KlinesEvent =
  | { readonly type: 'plan'; readonly windows: number; readonly requests: number; readonly limitMs: number }
  | ProgressEvent
  | WindowEvent
  | { readonly type: 'warning'; readonly message: string; readonly isUrgent?: boolean }
  | ({ readonly type: 'network' } & NetworkActivity)

/** Where candles come from, and how. */
export interface SourceOptions extends MirrorOptions, RequestLimits {
  /** Called with each event while the run goes on. What it throws ends the run. */
  readonly onEvent?: ((event: KlinesEvent) => void) | undefined
  /** Download final windows again too. */
  readonly refresh?: boolean | undefined
  /** Take no month of 1m, 3m or 5m candles from the exchange's archive of zips, but all from its API. */
  readonly noArchive?: boolean | undefined
  /** The address of the archive. Default: https://data.binance.vision; `binance:URL` has none without it. */
  readonly archiveUrl?: string | undefined
  /** Requests at once, 1 to 256. Default 16, and 4 for the exchange. */
  readonly concurrency?: number | undefined
  /** Ends the run; the mirror keeps what was downloaded. */
  readonly signal?: AbortSignal | undefined
  /** The present, ms UTC. Default: the machine's clock. */
  readonly now?: number | undefined
}

export interface Run<S extends Source | undefined = Source | undefined> {
  readonly mirror: Mirror
  /** Whether the mirror has candles of an exchange, or is going to have them. */
  readonly isExchange?: boolean
  /** Undefined for a run that reads the mirror alone. */
  readonly source: S
  readonly concurrency: number
  readonly refresh: boolean
  /** Only look: ask for final windows too, hand on what the source says, and store nothing. */
  readonly readOnly: boolean
  /** Of an open window, only ask for the candles behind the cached ones, where the source can. */
  readonly follows?: boolean
  readonly signal: AbortSignal
  readonly now: () => number
  readonly emit: (event: KlinesEvent) => void
  readonly warn: (message: string, isUrgent?: boolean) => void
  /** What became of the windows that were made current, by their paths: none is requested twice. */
  readonly done: Map<
    string,
    { readonly status: WindowResult['status'] | 'absent'; readonly change?: WindowDifference | undefined }
  >
  /** Shares the work on a window, by its path, with other runs of this process that want it at the same time. */
  readonly once?: <T>(path: string, work: () => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

type OpenOptions<Offline = boolean | undefined> = SourceOptions & { readonly offline?: Offline }
/** `policy`: how failed requests are repeated where the options do not say it. `clock`: this machine's, ms UTC. */
type RunUse = { readonly policy?: RetryPolicy; readonly readOnly?: boolean; readonly clock?: () => number }

/** Sends no request and writes nothing. Throws `bad_option`, `bad_base_url` and `mirror_mismatch`. */
export async function openRun(options: OpenOptions<undefined>, use?: RunUse): Promise<Run<Source>>
export async function openRun(options: OpenOptions, use?: RunUse): Promise<Run>
export async function openRun(options: OpenOptions, use: RunUse = {}): Promise<Run> {
  const { readOnly = false, clock = Date.now } = use
  const { offline, refresh = false, signal = new AbortController().signal, onEvent } = options
  const now = options.now === undefined ? clock : () => options.now as number
  const emit = (event: KlinesEvent) => onEvent?.(event)
  const said = new Set<string>()
  const warn = (message: string, isUrgent = false) => {
    if (!said.has(message)) emit({ type: 'warning', message, isUrgent })
    said.add(message)
  }
  const mirror = openMirror(options, warn)
  const name = toSourceName(options.baseUrl)
  const concurrency = options.concurrency ?? (isExchange(name) ? EXCHANGE_CONCURRENCY : DEFAULT_CONCURRENCY)
  checkValue('concurrency', { takes: 'number', range: { min: 1, max: 256 } }, concurrency)
  if (!offline) mirror.checkSource(name)
  const onActivity = (activity: NetworkActivity) => emit({ type: 'network', ...activity })
  const hooks = { now, warn, onActivity }
  const policy = limitPolicy(use.policy ?? RETRY_POLICY, options)
  const archive = toArchiveAddress(options.archiveUrl, name)
  // Whoever downloads everything again wants the exchange's own answers.
  const archiveUrl = options.noArchive || refresh ? undefined : archive
  const ways = { concurrency, policy, limits: options, archiveUrl }
  const open = () => (name === SAMPLE ? sampleSource(hooks) : openSource(name, { ...hooks, ...ways }))
  const source = offline ? undefined : await open()
  const close = async () => {
    await source?.close()
    mirror.flushAll()
  }
  const settings = { isExchange: isExchange(mirror.source ?? name), concurrency, refresh, readOnly, done: new Map() }
  return { mirror, source, ...settings, signal, now, emit, warn, close }
}

export function mirrorRun(mirror: Mirror, { now, signal, warn }: Pick<Run, 'now' | 'signal' | 'warn'>): Run {
  const ways = { concurrency: DEFAULT_CONCURRENCY, refresh: false, readOnly: true, done: new Map() }
  return { mirror, source: undefined, ...ways, signal, now, emit: () => {}, warn, close: async () => {} }
}

/** A plan without the windows that the source was found to lack at its ends. */
export function withoutAbsent(plan: SeriesPlan, { done }: Run): SeriesPlan {
  const windows = plan.windows.filter(window => done.get(windowPath(window))?.status !== 'absent')
  return { ...plan, windows }
}

export function quiet(run: Run): Run {
  return { ...run, source: undefined, emit: () => {} }
}

/** Undefined for a mirror that does not say it. */
export function sourceOf({ source, mirror }: Run): string | undefined {
  return source?.name ?? mirror.source
}

export function isOnline(run: Run): run is Run<Source> {
  return run.source !== undefined
}

export async function withRun<T, S extends Source | undefined>(
  opening: Promise<Run<S>>,
  work: (run: Run<S>) => Promise<T>,
): Promise<T> {
  const run = await opening
  const result = await work(run).catch(async error => {
    // On a disk that fails, closing fails too: the first fault is told.
    await run.close().catch(() => {})
    throw error
  })
  await run.close()
  return result
}
