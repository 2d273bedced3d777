import { isAbsolute, relative, resolve } from 'node:path'
import { knownSymbols } from '../engine/lists.js'
import { planRequest } from '../engine/plan.js'
import { mirrorRun } from '../engine/run.js'
import { type Interval, isInterval } from '../klines/intervals.js'
import { windowPath } from '../klines/paths.js'
import type { Series } from '../klines/series.js'
import { isSymbol, type SymbolName } from '../klines/symbols.js'
import { quoteWord } from '../klines/text.js'
import { startDateAt } from '../klines/windows.js'
import { type SeriesStatus, seriesStatus, seriesStatuses } from '../mirror/status.js'
import { defaultMirrorRoot } from '../mirror/user-mirrors.js'
import { isExchange, PUBLIC_BASE_URL, SAMPLE, toAddress } from '../sources/base-url.js'
import type { Route } from './app.js'
import { Body } from './body.js'
import { HttpError } from './errors.js'
import { sendBody } from './send.js'
import type { ServedMirror } from './served-mirror.js'
import type { Tree } from './tree.js'

/** The routes of what the viewer reads about the mirror: for pages of this server alone. */
export function coverageRoutes(tree: Tree): Route[] {
  const json = (value: unknown) => new Body(Buffer.from(JSON.stringify(value)), { isPrivate: true })
  return [
    {
      method: 'GET',
      url: '/coverage.json',
      isPrivate: true,
      handler: async (request, reply) => sendBody(request, reply, json(await findCoverage(tree))),
    },
    {
      method: 'GET',
      url: '/coverage/:interval/:file',
      isPrivate: true,
      handler: async (request, reply) => {
        const { interval, file } = request.params as { interval: string; file: string }
        const symbol = file.replace(/\.json$/, '')
        const isSeries = isInterval(interval) && file.endsWith('.json') && isSymbol(symbol)
        if (!isSeries) throw new HttpError(404, 'There is no such series.')
        return sendBody(request, reply, json(await findSeriesCoverage(tree, { symbol, interval })))
      },
    },
  ]
}

/** A series of the mirror, and the windows of its first and last candle. */
interface ServedSeries extends SeriesStatus {
  readonly firstStartDate: string | undefined
  readonly lastStartDate: string | undefined
}

/** What a server has, for the candle viewer. */
interface Coverage {
  readonly source: MirrorSourceFacts
  /** What `klines download SYMBOL -i INTERVAL` needs besides, to fill this mirror. */
  readonly downloadFlags: string
  /** Whether missing windows are downloaded on request. */
  readonly upstream: boolean
  readonly intervals: readonly Interval[]
  /** Those with cached windows come first. */
  readonly symbols: readonly SymbolName[]
  /** Every series with a cached window. */
  readonly series: readonly ServedSeries[]
}

async function findCoverage({ mirror, upstream }: Tree): Promise<Coverage> {
  const series = (await seriesStatuses(mirror)).map(withDates)
  return {
    source: describeSource(mirror),
    downloadFlags: downloadFlags(mirror),
    upstream: upstream !== undefined,
    intervals: mirror.intervals,
    symbols: [...new Set([...series.map(({ symbol }) => symbol), ...knownSymbols(mirror)])],
    series,
  }
}

/** One series, cached or not, for the viewer, which loads its windows. */
interface SeriesCoverage extends ServedSeries, Pick<Coverage, 'upstream'> {
  /** The present, ms UTC. */
  readonly now: number
  /** Whether the mirror knows the symbol. */
  readonly known: boolean
  /** The windows between the first and the last cached one that have no file and may have candles. */
  readonly missingStartDates: readonly string[]
}

async function findSeriesCoverage({ mirror, upstream, now }: Tree, series: Series): Promise<SeriesCoverage> {
  const { symbol, interval } = series
  const isComplete = mirror.source === SAMPLE || !mirror.has(series)
  const run = mirrorRun(mirror, { now, signal: new AbortController().signal, warn: () => {} })
  const plan = isComplete ? undefined : await planRequest({ symbols: [symbol], intervals: [interval] }, run)
  const missing = plan?.series[0].windows.filter(window => mirror.version(windowPath(window)) === undefined) ?? []
  return {
    ...withDates(seriesStatus(mirror, series)),
    known: mirror.knows(symbol),
    missingStartDates: missing.map(({ startDate }) => startDate),
    upstream: upstream !== undefined,
    now: now(),
  }
}

function withDates(status: SeriesStatus): ServedSeries {
  const dateOf = (time: number | undefined) => (time === undefined ? undefined : startDateAt(status.interval, time))
  return { ...status, firstStartDate: dateOf(status.firstOpenTime), lastStartDate: dateOf(status.lastOpenTime) }
}

/** Where the candles of a mirror come from. */
export interface MirrorSourceFacts {
  readonly kind: 'sample' | 'service' | 'exchange' | 'unknown'
  /** The base address of a service or an exchange. */
  readonly address: string | undefined
}

/** The source of a mirror. Only an address is shown: anything may be in `mirror.json`. */
export function describeSource({ baseUrl }: ServedMirror): MirrorSourceFacts {
  if (baseUrl === SAMPLE) return { kind: 'sample', address: undefined }
  const address = toAddress(baseUrl ?? '')
  if (!/^https?:\/\//.test(address)) return { kind: 'unknown', address: undefined }
  return { kind: isExchange(baseUrl) ? 'exchange' : 'service', address }
}

/** Stands for the folder of a mirror whose path is nobody's business. */
const SERVED_FOLDER = 'FOLDER'

/**
 * What `klines download` needs besides a series to fill a mirror: its source and its folder, unless they are the default ones. A folder
 * below the working folder is named, any other stays `FOLDER`.
 */
export function downloadFlags(mirror: ServedMirror): string {
  const { kind } = describeSource(mirror)
  const source = (kind === 'unknown' ? undefined : mirror.baseUrl) ?? PUBLIC_BASE_URL
  const flags = source === PUBLIC_BASE_URL ? '' : ` --base-url ${quoteWord(source)}`
  const path = resolve(mirror.root)
  if (isDefaultRoot(path, source)) return flags
  const below = relative(process.cwd(), path)
  const isBelow = below !== '' && !below.startsWith('..') && !isAbsolute(below)
  return `${flags} --mirror ${isBelow ? quoteWord(below) : SERVED_FOLDER}`
}

function isDefaultRoot(path: string, source: string): boolean {
  try {
    return path === resolve(defaultMirrorRoot(source))
  } catch {
    // A user without a home folder has none.
    return false
  }
}
