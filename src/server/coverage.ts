import { resolve } from 'node:path'
import { isInterval } from '../candles/intervals.js'
import { windowPath } from '../candles/paths.js'
import type { Series } from '../candles/series.js'
import { isSymbol } from '../candles/symbols.js'
import { quoteWord } from '../candles/text.js'
import { startDateAt } from '../candles/windows.js'
import { knownSymbols } from '../engine/lists.js'
import { planRequest } from '../engine/plan.js'
import { mirrorRun } from '../engine/run.js'
import { findUserFolder } from '../fs/user-folder.js'
import { type SeriesStatus, seriesStatus, seriesStatuses } from '../mirror/status.js'
import { defaultMirrorRoot } from '../mirror/user-mirrors.js'
import { isExchange, PUBLIC_BASE_URL, SAMPLE, toAddress } from '../sources/base-url.js'
import { Body, sendBody } from './body.js'
import { HttpError } from './errors.js'
import type { Route } from './openapi.js'
import type { ServedMirror } from './served-mirror.js'
import type { Tree } from './tree.js'

/** The routes of what the viewer reads about the mirror: for pages of this server alone. */
export function coverageRoutes(tree: Tree): Route[] {
  const json = (url: string, find: (params: Record<string, string>) => Promise<unknown>): Route => ({
    method: 'GET',
    url,
    isPrivate: true,
    handler: async (request, reply) => {
      const text = JSON.stringify(await find(request.params as Record<string, string>))
      return sendBody(request, reply, new Body(Buffer.from(text), { isPrivate: true }))
    },
  })
  return [
    json('/coverage.json', () => findCoverage(tree)),
    json('/coverage/:interval/:file', async ({ interval, file }) => {
      const symbol = file.replace(/\.json$/, '')
      if (isInterval(interval) && symbol !== file && isSymbol(symbol))
        return findSeriesCoverage(tree, { symbol, interval })
      throw new HttpError(404, 'There is no such series.')
    }),
  ]
}

/** What a server has, for the candle viewer: its symbols, those with cached windows first, and every series with such a window. */
async function findCoverage({ mirror, upstream }: Tree) {
  const series = (await seriesStatuses(mirror)).map(withDates)
  return {
    source: describeSource(mirror),
    // What `klines download SYMBOL -i INTERVAL` needs besides, to fill this mirror.
    downloadFlags: downloadFlags(mirror),
    // Whether missing windows are downloaded on request.
    upstream: upstream !== undefined,
    intervals: mirror.intervals,
    symbols: [...new Set([...series.map(({ symbol }) => symbol), ...knownSymbols(mirror)])],
    series,
  }
}

/** One series, cached or not, and its windows without a file between the first and the last cached one. */
async function findSeriesCoverage({ mirror, upstream, now }: Tree, series: Series) {
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

/** A series of the mirror, with the windows of its first and last candle. */
function withDates(status: SeriesStatus) {
  const dateOf = (time: number | undefined) => (time === undefined ? undefined : startDateAt(status.interval, time))
  return { ...status, firstStartDate: dateOf(status.firstOpenTime), lastStartDate: dateOf(status.lastOpenTime) }
}

/** Where the candles of a mirror come from. Only an address is shown: anything may be in `mirror.json`. */
export function describeSource({ baseUrl }: ServedMirror): {
  kind: 'sample' | 'service' | 'exchange' | 'unknown'
  address?: string
} {
  if (baseUrl === SAMPLE) return { kind: 'sample' }
  const address = toAddress(baseUrl ?? '')
  if (!/^https?:\/\//.test(address)) return { kind: 'unknown' }
  return { kind: isExchange(baseUrl) ? 'exchange' : 'service', address }
}

/** What `klines download` needs besides a series to fill a mirror. Its folder is nobody's business, unless it is the default one. */
export function downloadFlags(mirror: ServedMirror): string {
  const isKnown = describeSource(mirror).kind !== 'unknown'
  const source = (isKnown && mirror.baseUrl) || PUBLIC_BASE_URL
  const flags = source === PUBLIC_BASE_URL ? '' : ` --base-url ${quoteWord(source)}`
  // A user without a home folder has no default mirror.
  const isDefault = findUserFolder('cache') !== undefined && resolve(mirror.root) === resolve(defaultMirrorRoot(source))
  return isDefault ? flags : `${flags} --mirror FOLDER`
}
