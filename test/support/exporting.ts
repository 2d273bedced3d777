import fc from 'fast-check'
import type { KlineRow } from '../../src/candles/columns.js'
import { COLUMNS } from '../../src/candles/columns.js'
import type { FileMetadata } from '../../src/formats/exporter.js'
import type { RowFormat } from '../../src/formats/row-format.js'
import { toCompression } from '../../src/formats/row-format.js'
import { openExporter } from '../../src/formats/text.js'
import type { Format, OutputColumn } from '../../src/options.js'
import type { KlineBatch } from '../../src/rows/kline-batch.js'
import { klineRows } from './oracles/kline-arbitraries.js'
import { type KnownWindow, LEAP_MONTH, sampleRow, TWENTY_YEARS, toBatch, WEEK } from './windows.js'

export const METADATA: FileMetadata = {
  symbol: 'BTCUSDT',
  interval: '1h',
  range: '2024-01-01T00:00:00.000Z/..',
  source: 'https://example.com/base',
  version: '1.2.3',
}

export function rowFormat(options: Partial<RowFormat> = {}): RowFormat {
  return { columns: COLUMNS, timeFormat: 'ms', numbers: 'text', compression: toCompression(undefined), ...options }
}

export const ALL_COLUMNS: readonly OutputColumn[] = ['symbol', 'interval', ...COLUMNS]

/** A window and its rows. */
export interface WindowRows {
  readonly known: KnownWindow
  readonly rows: readonly KlineRow[]
}

export function toBatches(parts: readonly WindowRows[]): KlineBatch[] {
  return parts.map(({ known, rows }) => toBatch(rows, known))
}

/** `count` rows a second apart in a window that has room for them; `cells` are what differs from row to row. */
export function manyRows(
  count: number,
  cells = (index: number): Record<number, unknown> => ({ 1: `${index}.5`, 8: index }),
): WindowRows {
  const { startTime } = TWENTY_YEARS.span
  const rows = Array.from({ length: count }, (_, index) => sampleRow(startTime + index * 1000, cells(index)))
  return { known: TWENTY_YEARS, rows }
}

/** Random windows of two series, one after the other. */
export function twoSeries(options: Parameters<typeof klineRows>[1]): fc.Arbitrary<WindowRows[]> {
  return fc.tuple(klineRows(LEAP_MONTH, options), klineRows(WEEK, options)).map(([first, second]) => [
    { known: LEAP_MONTH, rows: first },
    { known: WEEK, rows: second },
  ])
}

/** Splits each batch at every one of `points` (in thousandths of its rows). */
export function cutBatches(batches: readonly KlineBatch[], points: readonly number[]): KlineBatch[] {
  return batches.flatMap(batch => {
    const ends = points.map(point => Math.floor((point * batch.length) / 1000)).toSorted((a, b) => a - b)
    return [...ends, batch.length].map((end, index) => batch.rows(ends[index - 1] ?? 0, end))
  })
}

export const cutPoints = fc.array(fc.nat(1000), { maxLength: 5 })

/** The bytes of a file with these rows, and what the exporter counted. */
export async function runExporter(
  format: Format,
  batches: Iterable<KlineBatch>,
  rowFormat: RowFormat,
  metadata: FileMetadata = METADATA,
) {
  const stats = { inexactDoubles: 0 }
  const chunks: Uint8Array[] = []
  const emit = async (bytes: Uint8Array) => void chunks.push(bytes)
  const exporter = await openExporter(format, { rowFormat, metadata, stats, emit })
  for (const batch of batches) await exporter.write(batch)
  await exporter.end()
  return { bytes: Buffer.concat(chunks), stats }
}
