import { KlinesError } from '../klines/errors.js'
import { type Series, seriesName } from '../klines/series.js'
import type { Selection } from './selection.js'
import type { MirrorSource } from './sources/mirror-source.js'

/** The series of a selection in a mirror. Throws `window_missing` when one that is named is not cached. */
export async function cachedSeries(source: MirrorSource, selection: Selection): Promise<Series[]> {
  const series = await source.contents.series(selection)
  // `all` and patterns stand for what is cached.
  const missing = series.filter(name => !source.contents.hasSeries(name))
  if (missing.length === 0) return series
  throw new KlinesError('window_missing', `Not in the mirror: ${missing.map(seriesName).join(', ')}.`, {
    suggestions: [source.info.advice],
  })
}
