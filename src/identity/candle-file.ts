import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { SeriesLabel } from '../candles/series.js'
import { CandleRows, type LastTimes } from '../formats/read/candle-rows.js'
import { badInput, inputError } from '../formats/read/errors.js'
import type { RawTable } from '../formats/read/raw-table.js'
import { nameSeries } from '../formats/read/raw-table.js'
import { openCsv, openJson, openJsonLines } from '../formats/read/text.js'
import { readLake } from '../lake/folder.js'
import { parsePartPath } from '../lake/layout.js'
import type { LakeManifest } from '../lake/manifest.js'
import { describeExtensions, type Format, formatOfName } from '../options/formats.js'
import type { SeriesFingerprint } from '../rows/fingerprint.js'
import type { KlineBatch } from '../rows/kline-batch.js'

/** Candles that klines has written: a file, or the folder of a lake. */
export interface CandleFile {
  /**
   * The candles of each series in order of time, in batches of one series; memory does not grow with their number. Throws `bad_input`
   * for doubles, missing columns, and rows that are not in order, and `damaged_input` for damaged content; both name the file, the row
   * and the cell.
   */
  batches(): AsyncGenerator<KlineBatch>
  /** The fingerprints of the candles that a file of doubles was made from, if the file names them; undefined for exact candles. */
  readonly named: readonly SeriesFingerprint[] | undefined
}

/**
 * Opens a file in a format that klines writes, or the folder of a lake. The name of a file that does not say its series does:
 * `BTCUSDT-1h.csv`. Throws `bad_input` and `damaged_input`.
 */
export async function openCandleFile(file: string): Promise<CandleFile> {
  return isFolder(file) ? openLake(file) : openFile(file)
}

async function openFile(file: string): Promise<CandleFile> {
  const table = await openTable(file)
  const named = table.doubles.length > 0 ? table.facts.fingerprints : undefined
  return { named, batches: () => readBatches(file, table, undefined, new Map()) }
}

function openLake(lake: string): CandleFile {
  const manifest = readLake(lake)
  const paths = manifest.series.flatMap(({ parts }) => parts.map(({ path }) => path))
  return {
    named: namedByLake(manifest),
    async *batches() {
      const last: LastTimes = new Map()
      for (const path of paths) {
        const file = join(lake, path)
        yield* readBatches(file, await openTable(file), parsePartPath(path), last)
      }
    },
  }
}

/** The fingerprints of a lake of doubles, if every series with candles has one. */
function namedByLake({ options, series }: LakeManifest): SeriesFingerprint[] | undefined {
  const written = series.filter(({ parts }) => parts.length > 0)
  const named = written.flatMap(({ fingerprint }) => fingerprint ?? [])
  return options.numbers === 'double' && named.length === written.length ? named : undefined
}

async function* readBatches(
  file: string,
  table: RawTable,
  series: SeriesLabel | undefined,
  last: LastTimes,
): AsyncGenerator<KlineBatch> {
  const { columns, facts } = table
  const namesSeries = columns.includes('symbol') && columns.includes('interval')
  const candles = new CandleRows(file, table, namesSeries ? series : nameSeries(file, facts, series), last)
  for await (const rows of table.rows()) yield* candles.read(rows)
}

const OPENERS: Readonly<Record<Format, (file: string) => Promise<RawTable>>> = {
  csv: openCsv,
  json: openJson,
  jsonl: openJsonLines,
  // Their modules are large.
  parquet: async file => (await import('../formats/read/parquet.js')).openParquet(file),
  arrow: async file => (await import('../formats/read/arrow.js')).openArrow(file),
}

async function openTable(file: string): Promise<RawTable> {
  const format = formatOfName(file)
  if (format) return OPENERS[format](file)
  throw badInput({ file }, 'its name does not say its format', [
    `Expected a name that ends in ${describeExtensions()}, or the folder of a lake.`,
  ])
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch (error) {
    throw inputError(path, error)
  }
}
