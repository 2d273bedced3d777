import { type SeriesLabel, seriesName } from '../../candles/series.js'
import { EXTENSIONS, type Format, formatOfName } from '../../options.js'
import type { SeriesFingerprint } from '../../rows/fingerprint.js'
import type { KlineBatch } from '../../rows/kline-batch.js'
import { CandleRows } from './candle-rows.js'
import { badInput } from './errors.js'
import { nameSeries, type RawTable } from './raw-table.js'
import { openCsv, openJson, openJsonLines } from './text.js'

/** Candles that klines has written: a file, or a lake. */
export interface CandleFile {
  /**
   * The candles of each series, or of one, in order of time, in batches of one series. Memory grows with their number in a
   * JSON file only. Throws `bad_input` for doubles, missing columns, and rows that are not in order, and `damaged_input` for
   * damaged content; both name the file, the row and the cell.
   */
  batches(only?: SeriesLabel): AsyncGenerator<KlineBatch>
  /** The fingerprints of the candles that a file of doubles was made from, if the file names them; undefined for exact candles. */
  readonly named: readonly SeriesFingerprint[] | undefined
}

const OPENERS: Readonly<Record<Format, (file: string) => Promise<RawTable>>> = {
  csv: openCsv,
  json: openJson,
  jsonl: openJsonLines,
  // Their modules are large.
  parquet: async file => (await import('./parquet.js')).openParquet(file),
  arrow: async file => (await import('./arrow.js')).openArrow(file),
}

/** Opens a file that klines has written. `series`: the one that a lake says it has. Throws `bad_input` and `damaged_input`. */
export async function openCandleFile(file: string, series?: SeriesLabel): Promise<CandleFile> {
  const format = formatOfName(file)
  if (format === undefined) {
    const suggestions = [`Expected a name that ends in ${EXTENSIONS}, or the folder of a lake.`]
    throw badInput({ file }, 'its name does not say its format', suggestions)
  }
  const table = await OPENERS[format](file)
  const { columns, hasDoubles, facts } = table
  const namesSeries = columns.includes('symbol') && columns.includes('interval')
  return {
    named: hasDoubles ? facts?.fingerprints : undefined,
    async *batches(only) {
      const candles = new CandleRows(file, table, namesSeries ? undefined : (series ?? nameSeries(file, facts)))
      for await (const rows of table.rows())
        yield* candles.read(rows).filter(({ series }) => only === undefined || seriesName(only) === seriesName(series))
    },
  }
}
