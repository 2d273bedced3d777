import { isExchange, SAMPLE, toAddress } from '../../http/base-url.js'
import type { Interval } from '../../klines/intervals.js'
import type { Series } from '../../klines/series.js'
import type { SymbolName } from '../../klines/symbols.js'
import type { Mirror } from '../../mirror/mirror.js'
import { type SeriesStatus, seriesStatus, seriesStatuses } from '../../mirror/status.js'
import { planVerification } from '../../verify/plan.js'
import { listSymbols, type Tree } from '../tree/tree.js'
import { downloadFlags } from './download-flags.js'

/** What a server has, for the candle viewer. */
export interface Coverage {
  readonly source: MirrorSourceFacts
  /** What `klines download SYMBOL -i INTERVAL` needs besides, to fill this mirror. */
  readonly downloadFlags: string
  /** Whether missing windows are downloaded on request. */
  readonly upstream: boolean
  readonly intervals: readonly Interval[]
  /** Those with cached windows come first. */
  readonly symbols: readonly SymbolName[]
  /** Every series with a cached window. */
  readonly series: readonly SeriesStatus[]
}

export async function findCoverage({ mirror, upstream }: Tree): Promise<Coverage> {
  const series = await seriesStatuses(mirror)
  const symbols = new Set(series.map(({ symbol }) => symbol))
  const source = describeSource(mirror)
  return {
    source,
    downloadFlags: downloadFlags(mirror.root, source.kind === 'unknown' ? undefined : mirror.baseUrl),
    upstream: upstream !== undefined,
    intervals: mirror.contents.intervals(),
    symbols: [...(mirror.rules.listsMirrored ? symbols : new Set([...symbols, ...listSymbols(mirror)]))],
    series,
  }
}

/** One series, cached or not, for the viewer, which loads its windows. */
interface SeriesCoverage extends SeriesStatus, Pick<Coverage, 'upstream'> {
  /** The present, ms UTC. */
  readonly now: number
  /** Whether the mirror knows the symbol. */
  readonly known: boolean
  /** The windows between the first and the last cached one that have no file and may have candles. */
  readonly missingStartDates: readonly string[]
}

export async function findSeriesCoverage({ mirror, upstream, now }: Tree, series: Series): Promise<SeriesCoverage> {
  const status = seriesStatus(mirror, series)
  const cached = new Set(mirror.contents.startDates(series))
  // Before the first download with an upstream there is no mirror to plan with.
  const [plan] = cached.size === 0 ? [] : await planVerification(mirror, [series], { now: now(), warn: () => {} })
  const missingStartDates = (plan?.startDates ?? []).filter(startDate => !cached.has(startDate))
  const known = mirror.contents.hasSymbol(series.symbol)
  return { ...status, known, missingStartDates, upstream: upstream !== undefined, now: now() }
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
