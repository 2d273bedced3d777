import { setImmediate as nextTurn } from 'node:timers/promises'
import { isExchange, SAMPLE, toAddress } from '../../http/base-url.js'
import { EXCHANGE_INTERVALS, type Interval } from '../../klines/intervals.js'
import { startDatesPath, windowPath } from '../../klines/paths.js'
import type { Series } from '../../klines/series.js'
import { type SymbolName, sortSymbols } from '../../klines/symbols.js'
import type { Mirror } from '../../mirror/mirror.js'
import { type SeriesStatus, seriesStatus, summarizeSizes } from '../../mirror/status.js'
import { planVerification } from '../../verify/plan.js'
import { listSymbols, type Tree } from '../tree/tree.js'
import { downloadFlags } from './download-flags.js'

/** What a mirror has of a series, by the names and sizes of its files: no file is read. */
export interface SeriesCoverage extends SeriesStatus {
  /** Windows between the first and the last cached one that have no file and may have candles. */
  readonly missing: number
}

/** What a server has. */
export interface Coverage {
  readonly source: MirrorSourceFacts
  /** What `klines download SYMBOL -i INTERVAL` needs besides, to fill this mirror. */
  readonly downloadFlags: string
  /** Whether missing windows are downloaded on request. */
  readonly upstream: boolean
  /** The present, ms UTC. */
  readonly now: number
  readonly intervals: readonly Interval[]
  /** Those with cached windows come first. */
  readonly symbols: readonly SymbolName[]
  /** When a list was last fetched, ms UTC: the time of the newest file of a list; undefined without one. */
  readonly updatedTime: number | undefined
  /** Every series with a cached window. */
  readonly series: readonly SeriesCoverage[]
}

/** What the server of a tree has at `now` (ms UTC), found in small steps. */
export async function findCoverage({ mirror, upstream }: Tree, now: number, steps: Steps): Promise<Coverage> {
  const status = await findStatus(mirror, steps)
  const missing = await findMissing(mirror, status, now, steps)
  const symbols = new Set(status.map(({ symbol }) => symbol))
  const source = describeSource(mirror)
  return {
    source,
    downloadFlags: downloadFlags(mirror.root, source.kind === 'unknown' ? undefined : mirror.baseUrl),
    upstream: upstream !== undefined,
    now,
    intervals: mirror.contents.intervals(),
    symbols: [...(mirror.rules.listsMirrored ? symbols : new Set([...symbols, ...listSymbols(mirror)]))],
    updatedTime: findUpdatedTime(mirror),
    series: status.map((series, index) => ({ ...series, missing: missing[index].length })),
  }
}

/** The status of each series with a cached window, symbol by symbol. */
async function findStatus(mirror: Mirror, steps: Steps): Promise<SeriesStatus[]> {
  const found = new Map<SymbolName, SeriesStatus[]>()
  for (const interval of EXCHANGE_INTERVALS) {
    for (const symbol of mirror.contents.symbolFolders(interval)) {
      const sizes: { startDate: string; bytes: number }[] = []
      for (const startDate of mirror.contents.startDates({ symbol, interval })) {
        sizes.push({ startDate, bytes: mirror.files.size(windowPath({ symbol, interval, startDate })) })
        await steps.take(1)
      }
      if (sizes.length === 0) continue
      found.set(symbol, [...(found.get(symbol) ?? []), summarizeSizes({ symbol, interval }, sizes)])
      await steps.take(1)
    }
  }
  return sortSymbols(found.keys()).flatMap(symbol => found.get(symbol) ?? [])
}

/** One series, cached or not, for a page that loads its windows. */
interface OneSeriesCoverage extends SeriesCoverage, Pick<Coverage, 'upstream' | 'now'> {
  /** Whether the mirror knows the symbol. */
  readonly known: boolean
  /** The windows that `missing` counts. */
  readonly missingStartDates: readonly string[]
}

/** What the server of a tree has of one series at `now` (ms UTC). */
export async function findSeriesCoverage(
  { mirror, upstream }: Tree,
  series: Series,
  now: number,
): Promise<OneSeriesCoverage> {
  const status = seriesStatus(mirror, series)
  // Before the first download with an upstream there is no mirror to plan with.
  const [missingStartDates] = status.windows > 0 ? await findMissing(mirror, [series], now) : [[]]
  const known = mirror.contents.hasSymbol(series.symbol)
  const missing = missingStartDates.length
  return { ...status, missing, known, missingStartDates, upstream: upstream !== undefined, now }
}

/** The windows of each series between its first and its last cached one that have no file and may have candles. */
async function findMissing(mirror: Mirror, series: readonly Series[], now: number, steps?: Steps): Promise<string[][]> {
  const plans = await planVerification(mirror, series, { now, warn: () => {} })
  const missing: string[][] = []
  for (const { startDates, ...name } of plans) {
    const cached = mirror.contents.missingMeansEmpty(name) ? undefined : new Set(mirror.contents.startDates(name))
    missing.push(cached ? startDates.filter(startDate => !cached.has(startDate)) : [])
    await steps?.take(startDates.length)
  }
  return missing
}

function findUpdatedTime(mirror: Mirror): number | undefined {
  const times = mirror.contents
    .intervals()
    .flatMap(interval => mirror.files.version(startDatesPath(interval))?.mtimeMs ?? [])
  return times.length === 0 ? undefined : Math.max(...times)
}

/** Where the candles of a mirror come from. */
export interface MirrorSourceFacts {
  readonly kind: 'sample' | 'service' | 'exchange' | 'unknown'
  /** The base address of a service or an exchange. */
  readonly address: string | undefined
}

/** The source of a mirror. Only an address is shown: anything may be in `mirror.json`. */
export function describeSource({ baseUrl }: Mirror): MirrorSourceFacts {
  if (baseUrl === SAMPLE) return { kind: 'sample', address: undefined }
  const address = toAddress(baseUrl ?? '')
  if (!/^https?:\/\//.test(address)) return { kind: 'unknown', address: undefined }
  return { kind: isExchange(baseUrl) ? 'exchange' : 'service', address }
}

/** Files that are looked at before other requests get their turn: some milliseconds, also on a slow disk. */
const FILES_A_TURN = 100

/** Long work in small steps, so that everything else gets its turn in between. */
export class Steps {
  /** Files that were looked at. */
  files = 0
  private sinceTurn = 0

  /** `signal` ends the work. `onTurn` is called before each turn of the others. */
  constructor(
    private readonly signal: AbortSignal,
    private readonly onTurn: (steps: Steps) => void = () => {},
  ) {}

  /** Counts files, and lets others go first after some of them. Throws the signal's reason. */
  async take(files: number): Promise<void> {
    this.files += files
    this.sinceTurn += files
    if (this.sinceTurn < FILES_A_TURN) return
    this.sinceTurn = 0
    this.onTurn(this)
    await nextTurn()
    this.signal.throwIfAborted()
  }
}
