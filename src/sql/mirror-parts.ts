import { join } from 'node:path'
import { NOT_EXPORTED, NOT_WRITTEN } from '../download/errors.js'
import type { SourceOptions } from '../download/sources/open-source.js'
import { exportKlines } from '../export/export.js'
import { KlinesError } from '../klines/errors.js'
import { parseInterval } from '../klines/intervals.js'
import { intervalSegment } from '../klines/paths.js'
import { type Series, seriesName } from '../klines/series.js'
import { parseSymbol } from '../klines/symbols.js'
import type { RangeText } from '../klines/time-range.js'
import type { LakeFiles } from './database.js'
import type { Query } from './query.js'

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
    const path = join(folder, `symbol=${symbol}`, `interval=${intervalSegment(interval)}`, 'part-0.parquet')
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
