import { isInterval, nearestInterval } from '../../candles/intervals.js'
import type { Series, SeriesLabel } from '../../candles/series.js'
import { isSymbol } from '../../candles/symbols.js'
import type { Address } from './address.js'
import { type Coverage, ROOT, readCoverage } from './service.js'
import { findSymbols } from './symbol-box.js'

export const FIRST_CHOICE: Series = { symbol: 'BTCUSDT', interval: '1d' }
const MAX_LINKS = 40

/** Why there are no candles to show, and links to what there is instead. */
export interface Absence {
  readonly problem: string
  readonly choices: readonly { readonly text: string; readonly href: string }[]
}

/** Chooses a series for an address that may lack a symbol or an interval. */
export async function chooseSeries(address: Address, signal: AbortSignal): Promise<Series | Absence> {
  const { symbol = FIRST_CHOICE.symbol, interval = FIRST_CHOICE.interval } = address
  if (!isInterval(interval) || !isSymbol(symbol))
    return describeAbsence(await readCoverage(signal), { symbol, interval }, true)
  if (address.interval !== undefined) return { symbol, interval }
  const all = populatedSeries(await readCoverage(signal), address.symbol)
  const ofInterval = all.filter(one => one.interval === interval)
  return ofInterval.find(one => one.symbol === symbol) ?? ofInterval[0] ?? all[0] ?? { symbol, interval }
}

/** Why a series has no candles here, and what there is instead. `known`: whether there is its symbol. */
export function describeAbsence(coverage: Coverage, { symbol, interval }: SeriesLabel, known: boolean): Absence {
  const place = placeOf(coverage)
  const ofSymbol = intervalLinks(coverage, symbol)
  const choices = ofSymbol.length > 0 ? ofSymbol : symbolLinks(coverage, symbol, interval)
  const isEmpty = !coverage.upstream && coverage.series.length === 0
  if (!isSymbol(symbol) || (!known && !isEmpty)) return { problem: `${place} has no symbol ${symbol}.`, choices }
  if (!isInterval(interval)) {
    const near = nearestInterval(interval)
    const question = near === undefined ? '' : ` Did you mean ${near}?`
    return { problem: `There is no interval “${interval}”.${question}`, choices }
  }
  const advice = findAdvice(coverage, { symbol, interval })
  return { problem: `${place} has no ${interval} candles of ${symbol}.${advice}`, choices }
}

/** How to get the candles that a mirror lacks. */
function findAdvice({ source, upstream, intervals, downloadFlags, series }: Coverage, wanted: Series): string {
  const command = `klines download ${wanted.symbol} -i ${wanted.interval}`
  if (!intervals.includes(wanted.interval)) {
    return source.kind === 'sample' ? '' : ` Only the exchange has them: ${command} --base-url binance`
  }
  if (upstream) return ''
  // The folder of files of an unknown source is no place for others.
  const flags = source.kind === 'unknown' && series.length > 0 ? '' : downloadFlags
  return ` Download them with: ${command}${flags}`
}

function placeOf({ source, upstream }: Coverage): string {
  if (upstream) return 'The service of this server'
  return source.kind === 'sample' ? 'The sample' : 'This mirror'
}

function populatedSeries({ series }: Coverage, symbol?: string): Coverage['series'] {
  return series.filter(one => one.lastOpenTime !== undefined && (symbol === undefined || one.symbol === symbol))
}

/** Links to the intervals of a symbol that have candles, or that a service may have. */
function intervalLinks(coverage: Coverage, symbol: string): Absence['choices'] {
  const populated = populatedSeries(coverage, symbol).map(({ interval }) => interval)
  const isOpen = populated.length === 0 && coverage.upstream && coverage.symbols.includes(symbol)
  return (isOpen ? coverage.intervals : populated).map(interval => seriesLink({ symbol, interval }, interval))
}

/** The same of symbols; those that look like `wanted` come first. */
function symbolLinks(coverage: Coverage, wanted: string, interval: string): Absence['choices'] {
  const cached = populatedSeries(coverage).map(({ symbol }) => symbol)
  const names = coverage.upstream ? coverage.symbols : cached
  return [...new Set([...findSymbols(wanted, names), ...names])].slice(0, MAX_LINKS).map(symbol => {
    const own = populatedSeries(coverage, symbol)
    const best = own.find(series => series.interval === interval) ?? own.at(-1)
    return seriesLink({ symbol, interval: best?.interval ?? FIRST_CHOICE.interval }, symbol)
  })
}

function seriesLink({ symbol, interval }: Series, text: string) {
  return { text, href: `${ROOT}chart/${encodeURIComponent(symbol)}/${interval}` }
}
