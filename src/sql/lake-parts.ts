import { KlinesError } from '../klines/errors.js'
import { type SeriesLabel, seriesName } from '../klines/series.js'
import { parsePartPath } from '../lake/layout.js'
import { listParts, locateParts } from '../lake/list-parts.js'
import type { LakeFiles } from './database.js'
import type { Query } from './query.js'

/**
 * The parts of a lake. Throws `bad_query` for a folder that is not a lake, or when `query` names a series that it lacks, and
 * `incomplete` when a part is missing or a link.
 */
export async function lakeParts(lake: string, query: Query): Promise<LakeFiles> {
  const { paths, partition } = await listParts(lake, 'bad_query')
  if (paths.length === 0) {
    throw new KlinesError('no_candles', `The lake ${lake} has no candles.`)
  }
  const names = new Set(paths.map(path => seriesName(parsePartPath(path) as SeriesLabel)))
  for (const [symbol = '', interval = ''] of query.calls.filter(call => call.every(text => text !== undefined))) {
    const name = `${symbol} ${interval}`
    if (!names.has(name)) throw unknownSeries(lake, name, [...names])
  }
  return { parts: locateParts(lake, paths), partition }
}

function unknownSeries(lake: string, name: string, names: readonly string[]): KlinesError {
  const some = names.length > 12 ? [...names.slice(0, 12), `${names.length - 12} more`] : names
  return new KlinesError('bad_query', `The lake ${lake} has no series ${name}. Expected one of ${some.join(', ')}.`)
}
