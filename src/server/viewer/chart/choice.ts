import type { Series } from '../../../klines/series.js'
import { type Absence, describeUnknown, FIRST_CHOICE, populatedSeries } from './absence.js'
import { type Address, knownSeries } from './address.js'
import { readCoverage, readSeriesCoverage } from './data/service.js'

/** Chooses a series for an address that may lack a symbol or an interval. */
export async function chooseSeries({ symbol, interval }: Address, signal: AbortSignal): Promise<Series | Absence> {
  if (symbol !== undefined && interval !== undefined) {
    return knownSeries(symbol, interval) ?? describeUnknown(await readCoverage(signal), symbol, interval)
  }
  const wanted = knownSeries(symbol ?? FIRST_CHOICE.symbol, FIRST_CHOICE.interval)
  if (!wanted) return describeUnknown(await readCoverage(signal), symbol ?? '', FIRST_CHOICE.interval)
  const { lastStartDate } = await readSeriesCoverage(wanted, signal)
  if (lastStartDate !== undefined) return wanted
  const candidates = populatedSeries(await readCoverage(signal)).filter(one => !symbol || one.symbol === symbol)
  return candidates.find(one => one.interval === FIRST_CHOICE.interval) ?? candidates[0] ?? wanted
}
