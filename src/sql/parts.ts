import { join } from 'node:path'
import { NOT_EXPORTED, NOT_WRITTEN } from '../download/errors.js'
import type { SourceOptions } from '../download/sources/source-options.js'
import { exportKlines } from '../export/export.js'
import { KlinesError } from '../klines/errors.js'
import { parseInterval } from '../klines/intervals.js'
import { type Series, type SeriesLabel, seriesName } from '../klines/series.js'
import { parseSymbol } from '../klines/symbols.js'
import type { RangeText } from '../klines/time-range.js'
import { parsePartPath, seriesFolder } from '../lake/layout.js'
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

const NOT_RUN = 'the query was not run'

/** Which candles of a mirror. */
export interface MirrorOptions extends SourceOptions, RangeText {
  readonly signal: AbortSignal
}

/**
 * Exports the series that a query names by calls of `candles` to Parquet files below `folder`, which is a lake then. The export
 * checks every window and keeps every digit. Throws `bad_query` for a query that does not name its series, and what
 * `exportKlines` throws: `incomplete` names missing and corrupt windows.
 */
export async function exportParts(query: Query, folder: string, options: MirrorOptions): Promise<LakeFiles> {
  if (query.readsAll) throw unnamed('klines is the table of all series, which only a lake has.')
  const series = new Map(query.calls.map(parseCall).map(call => [seriesName(call), call]))
  const parts: string[] = []
  for (const { symbol, interval } of series.values()) {
    const path = join(folder, seriesFolder({ symbol, interval }), 'part-0.parquet')
    const request = {
      symbols: [symbol],
      intervals: [interval],
      offline: true,
      numbers: 'decimal',
      // The files are read once.
      compression: 'none',
      mkdir: true,
    } as const
    await exportKlines({ ...options, ...request, output: path }).catch(error => {
      throw ofQuery(error)
    })
    parts.push(path)
  }
  return { parts, partition: 'none' }
}

/** The error of an export, with what becomes of the query. */
function ofQuery(error: unknown): unknown {
  if (!(error instanceof KlinesError)) return error
  const { code, suggestions, data, cause } = error
  const message = error.message.replace(NOT_EXPORTED, NOT_RUN).replace(NOT_WRITTEN, NOT_RUN)
  return new KlinesError(code, message, { suggestions, data, cause })
}

/** The series of a call. Names must be exact, as the macro compares them. */
function parseCall(call: readonly (string | undefined)[]): Series {
  const [symbolText, intervalText] = call
  if (symbolText === undefined || intervalText === undefined || call.length !== 2) {
    throw unnamed('Over a mirror, candles takes a symbol and an interval as literal texts.')
  }
  const [symbol, interval] = [parseSymbol(symbolText), parseInterval(intervalText)]
  if (symbol === symbolText && interval === intervalText) return { symbol, interval }
  const message = `candles('${symbolText}', '${intervalText}') does not name a series.`
  throw new KlinesError('bad_query', message, { suggestions: [`Did you mean candles('${symbol}', '${interval}')?`] })
}

function unnamed(reason: string): KlinesError {
  return new KlinesError('bad_query', reason, {
    suggestions: [
      "Name each series: select * from candles('BTCUSDT', '1d')",
      'Or make a lake and read that: klines export all -i all --layout hive -o lake, then klines sql --lake lake.',
    ],
  })
}
