import { seriesName } from '../../../klines/series.js'
import type { SeriesReport } from '../../../verify/series-report.js'
import { exactTime, joinParts } from './differences.js'

/**
 * Each series of which a later candle is not here because it was downloaded earlier than others, and what brings it up to date.
 * `location`: the flags that name its source and mirror, each after a space.
 */
export function olderLines(series: readonly SeriesReport[], location: string): string[] {
  return series.flatMap(({ symbol, interval, lastOpenTime, olderThan }) => {
    if (olderThan === undefined) return []
    const last = lastOpenTime === undefined ? 'no candle' : `last candle ${exactTime(lastOpenTime)}`
    const name = seriesName({ symbol, interval })
    return [
      joinParts(
        `${name}: ${last}, ${olderThan} has later ones:`,
        `klines download ${symbol} -i ${interval}${location}`,
      ),
    ]
  })
}
