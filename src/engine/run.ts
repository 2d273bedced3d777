import { KlinesError } from '../candles/errors.js'
import { HOUR_MS } from '../candles/intervals.js'
import { Mirror } from '../mirror/mirror.js'
import { defaultMirrorRoot } from '../mirror/user-mirrors.js'
import { isExchange, toSourceName } from '../sources/base-url.js'
import { openSource } from '../sources/open.js'
import { RETRY_POLICY, type RequestLimits, type RetryPolicy } from '../sources/retry.js'
import type { Source } from '../sources/source.js'
import type { EventOptions, KlinesEvent } from './events.js'
import type { WindowResult } from './outcome.js'

export const DEFAULT_CONCURRENCY = 16
/** A polite pace: 4 at once are some 40 requests a second, of the 50 that the exchange allows to all programs of an address. */
const EXCHANGE_CONCURRENCY = 4
const MAX_CONCURRENCY = 256

/** Where candles come from and where they are stored. */
export interface SourceOptions extends RequestLimits, EventOptions {
  /**
   * Base address of a klines service, the part before `/api`; `binance` for the exchange itself, `binance:URL` for another host of its
   * API; `sample` for the bundled synthetic tree. Default: the public instance.
   */
  readonly baseUrl?: string | undefined
  /** Folder of the mirror. Default: a folder for each base address under the platform's cache folder. */
  readonly mirror?: string | undefined
  /** Download final windows again too. */
  readonly refresh?: boolean | undefined
  /** Requests at once, 1 to 256. Default 16, and 4 for the exchange. */
  readonly concurrency?: number | undefined
  /** Ends the run; the mirror keeps what was downloaded. */
  readonly signal?: AbortSignal | undefined
  /** The present, ms UTC. Default: the machine's clock. */
  readonly now?: number | undefined
}

/** What the steps of a run share. */
export interface Run<S extends Source | undefined = Source | undefined> {
  readonly mirror: Mirror
  /** Whether the candles are of an exchange: those of the mirror, and those that it is going to have. */
  readonly isExchange?: boolean
  /** Undefined for a run that reads the mirror alone. */
  readonly source: S
  /** Requests at once. */
  readonly concurrency: number
  readonly refresh: boolean
  /** Store no lists: for what only looks. */
  readonly readOnly: boolean
  readonly signal: AbortSignal
  /** This machine's present, ms UTC. */
  readonly now: () => number
  readonly emit: (event: KlinesEvent) => void
  /** Says what a user should know; each text once. */
  readonly warn: (message: string) => void
  /** What became of the windows that were made current, by their paths: none is requested twice. */
  readonly done: Map<string, Pick<WindowResult, 'status' | 'change'>>
  /** Ends all requests, and writes what is known of windows. */
  readonly close: () => Promise<void>
}

/** What a run is opened for. */
interface RunUse {
  /** How failed requests are repeated where the options do not say it. */
  readonly policy?: RetryPolicy
  readonly readOnly?: boolean
}

/** The mirror of these options. Throws `bad_option` and `bad_base_url`. */
export function openMirror(
  { mirror, baseUrl }: Pick<SourceOptions, 'mirror' | 'baseUrl'>,
  warn?: (text: string) => void,
): Mirror {
  if (mirror === '') throw new KlinesError('bad_option', '--mirror is empty. Expected the name of a folder.')
  const name = toSourceName(baseUrl)
  const opened = new Mirror(mirror ?? defaultMirrorRoot(name), warn)
  if (baseUrl !== undefined) opened.checkSource(name)
  return opened
}

/**
 * Opens the source and the mirror of a run; with `offline` the mirror alone. Sends no request and writes nothing. Throws `bad_option`,
 * `bad_base_url` and `mirror_mismatch`.
 */
export async function openRun(options: SourceOptions & { offline?: undefined }, use?: RunUse): Promise<Run<Source>>
export async function openRun(options: SourceOptions & { offline?: boolean | undefined }, use?: RunUse): Promise<Run>
export async function openRun(
  options: SourceOptions & { offline?: boolean | undefined },
  { policy = RETRY_POLICY, readOnly = false }: RunUse = {},
): Promise<Run> {
  const { offline, refresh = false, signal = new AbortController().signal, onEvent } = options
  const now = options.now === undefined ? Date.now : () => options.now as number
  const emit = (event: KlinesEvent) => onEvent?.(event)
  const said = new Set<string>()
  const warn = (message: string) => {
    if (said.has(message)) return
    said.add(message)
    emit({ type: 'warning', message })
  }
  const mirror = openMirror(options, warn)
  const name = toSourceName(options.baseUrl)
  const concurrency = parseConcurrency(
    options.concurrency ?? (isExchange(name) ? EXCHANGE_CONCURRENCY : DEFAULT_CONCURRENCY),
  )
  if (!offline) mirror.checkSource(name)
  const source = offline
    ? undefined
    : await openSource(name, {
        concurrency,
        policy,
        limits: options,
        now,
        observe: clockNoter(now, warn),
        onActivity: activity => emit({ type: 'network', ...activity }),
        warn,
      })
  const close = async () => {
    await source?.close()
    mirror.flushAll()
  }
  return {
    mirror,
    isExchange: isExchange(mirror.source ?? name),
    source,
    concurrency,
    refresh,
    readOnly,
    signal,
    now,
    emit,
    warn,
    close,
    done: new Map(),
  }
}

/** A run that reads a mirror alone, which somebody else has opened. */
export function mirrorRun(mirror: Mirror, { now, signal, warn }: Pick<Run, 'now' | 'signal' | 'warn'>): Run {
  const rest = {
    concurrency: DEFAULT_CONCURRENCY,
    refresh: false,
    readOnly: true,
    emit: () => {},
    close: async () => {},
  }
  return { mirror, source: undefined, now, signal, warn, done: new Map(), ...rest }
}

/** Runs work, and closes what was opened for it. */
export async function withRun<T, S extends Source | undefined>(
  opening: Promise<Run<S>>,
  work: (run: Run<S>) => Promise<T>,
): Promise<T> {
  const run = await opening
  try {
    return await work(run)
  } finally {
    await run.close()
  }
}

/** Says once when the clock of a service differs by more than an hour from this machine's. */
function clockNoter(now: () => number, warn: Run['warn']): (skewMs: number) => void {
  let isNoted = false
  return skewMs => {
    if (isNoted || Math.abs(skewMs) <= HOUR_MS) return
    isNoted = true
    const [service, machine] = [now() + skewMs, now()].map(time => new Date(time).toISOString().slice(0, 16))
    warn(
      `The clocks differ: the service says ${service}Z, this machine ${machine}Z. The earlier time decides which windows are final.`,
    )
  }
}

/** The number of requests at once. Throws `bad_option`. */
function parseConcurrency(concurrency: number): number {
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= MAX_CONCURRENCY) return concurrency
  const message = `--concurrency is ${concurrency}. Expected a whole number from 1 to ${MAX_CONCURRENCY}.`
  throw new KlinesError('bad_option', message)
}
