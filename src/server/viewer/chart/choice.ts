import type { Series } from '../../../klines/series.js'
import { type Address, knownSeries } from './address.js'
import { type Coverage, readCoverage, readSeriesCoverage } from './data/service.js'
import type { MessageLink } from './message.js'

const FIRST_CHOICE: Series = { symbol: 'BTCUSDT', interval: '1d' }
const MAX_LINKS = 40

/** Why there are no candles to show, and what there is instead. */
export interface Absence {
  readonly problem: string
  readonly choices: readonly MessageLink[]
}

/** Chooses a series for an address that may lack a symbol or an interval. */
export async function chooseSeries({ symbol, interval }: Address, signal: AbortSignal): Promise<Series | Absence> {
  if (symbol !== undefined && interval !== undefined) {
    return knownSeries(symbol, interval) ?? describeUnknown(symbol, interval)
  }
  const wanted = knownSeries(symbol ?? FIRST_CHOICE.symbol, FIRST_CHOICE.interval)
  if (!wanted) return describeUnknown(symbol ?? '', FIRST_CHOICE.interval)
  const { lastStartDate } = await readSeriesCoverage(wanted, signal)
  if (lastStartDate !== undefined) return wanted
  const { series } = await readCoverage()
  const candidates = series.filter(one => one.lastStartDate !== undefined && (!symbol || one.symbol === symbol))
  return candidates.find(one => one.interval === FIRST_CHOICE.interval) ?? candidates[0] ?? wanted
}

async function describeUnknown(symbol: string, interval: string): Promise<Absence> {
  const isSymbol = knownSeries(symbol, FIRST_CHOICE.interval) !== undefined
  if (isSymbol) {
    const { intervals } = await readCoverage()
    const choices = intervals.map(interval => seriesLink({ symbol, interval }, interval))
    return { problem: `There is no interval “${interval}”. Choose one of these:`, choices }
  }
  const choices = symbolLinks(await readCoverage(), FIRST_CHOICE.interval)
  return {
    problem: `“${symbol}” is not a symbol. Expected 2 or more letters and digits, such as one of these:`,
    choices,
  }
}

/** Why a series has no candles here, and what there is instead. */
export async function describeAbsence({ symbol, interval }: Series, known: boolean): Promise<Absence> {
  const coverage = await readCoverage()
  const place = coverage.upstream ? 'The service of this server' : 'This mirror'
  if (!known) return { problem: `${place} has no symbol ${symbol}.`, choices: symbolLinks(coverage, interval) }
  const choices = coverage.series
    .filter(series => series.symbol === symbol && series.lastStartDate !== undefined)
    .map(series => seriesLink(series, series.interval))
  const advice = coverage.upstream ? '' : ` Download them with: klines download ${symbol} -i ${interval}`
  return {
    problem: `${place} has no ${interval} candles of ${symbol}.${advice}`,
    choices: choices.length > 0 ? choices : symbolLinks(coverage, interval),
  }
}

/** Links to the symbols that have candles, or to all. */
function symbolLinks({ series, symbols }: Coverage, interval: string): MessageLink[] {
  const populated = series.filter(({ lastStartDate }) => lastStartDate !== undefined)
  const names = populated.length > 0 ? [...new Set(populated.map(({ symbol }) => symbol))] : symbols
  return names.slice(0, MAX_LINKS).map(symbol => {
    const own = populated.filter(series => series.symbol === symbol)
    const best = own.find(series => series.interval === interval) ?? own.at(-1)
    return seriesLink({ symbol, interval: best?.interval ?? FIRST_CHOICE.interval }, symbol)
  })
}

function seriesLink({ symbol, interval }: Series, text: string): MessageLink {
  return { text, href: `/chart/${encodeURIComponent(symbol)}/${interval}` }
}
