import fc from 'fast-check'
import type { Exporter, FileMetadata } from '../../src/export/formats/exporter.js'
import type { OutputColumn, RowFormat } from '../../src/export/row-format.js'
import type { KlineBatch } from '../../src/klines/batch/kline-batch.js'
import type { KlineRow } from '../../src/klines/columns.js'
import { COLUMNS } from '../../src/klines/columns.js'
import { klineRows } from './oracles/kline-arbitraries.js'
import { type KnownWindow, LEAP_MONTH, sampleRow, TWENTY_YEARS, toBatch, WEEK } from './windows.js'

export const METADATA: FileMetadata = {
  symbol: 'BTCUSDT',
  interval: '1h',
  range: '2024-01-01T00:00:00.000Z/..',
  source: 'https://example.com/base',
  version: '1.2.3',
}

export function rowFormat(shape: Partial<RowFormat> = {}): RowFormat {
  return { columns: COLUMNS, timeFormat: 'ms', numbers: 'text', ...shape }
}

export const ALL_COLUMNS: readonly OutputColumn[] = ['symbol', 'interval', ...COLUMNS]

/** Rows of one window, as they are and as the batches they come in. */
export interface WindowRows {
  readonly known: KnownWindow
  readonly rows: readonly KlineRow[]
}

export function toBatches(parts: readonly WindowRows[]): KlineBatch[] {
  return parts.map(({ known, rows }) => toBatch(rows, known))
}

/** `count` rows a second apart in a window that has room for them. */
export function manyRows(count: number): WindowRows {
  const { startTime } = TWENTY_YEARS.span
  const rows = Array.from({ length: count }, (_, index) =>
    sampleRow(startTime + index * 1000, { 1: `${index}.5`, 8: index }),
  )
  return { known: TWENTY_YEARS, rows }
}

/** Windows of two series, one after the other. */
export function twoSeries(options: Parameters<typeof klineRows>[1]): fc.Arbitrary<WindowRows[]> {
  return fc.tuple(klineRows(LEAP_MONTH, options), klineRows(WEEK, options)).map(([first, second]) => [
    { known: LEAP_MONTH, rows: first },
    { known: WEEK, rows: second },
  ])
}

/** The same batches in pieces: each cut at every one of `points` (parts of a thousand of its rows). */
export function cutBatches(batches: readonly KlineBatch[], points: readonly number[]): KlineBatch[] {
  return batches.flatMap(batch => {
    const ends = points.map(point => Math.floor((point * batch.length) / 1000)).toSorted((a, b) => a - b)
    return [...ends, batch.length].map((end, index) => batch.rows(ends[index - 1] ?? 0, end))
  })
}

export const cutPoints = fc.array(fc.nat(1000), { maxLength: 5 })

async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

/** All that an exporter writes, and what it says besides. */
export async function runExporter(
  exporter: Exporter,
  batches: Iterable<KlineBatch> | AsyncIterable<KlineBatch>,
  shape: RowFormat,
  facts: FileMetadata = METADATA,
) {
  const notes = { inexactDoubles: 0 }
  const source = Symbol.asyncIterator in batches ? batches : each(batches)
  const chunks: Buffer[] = []
  // A copy: a chunk belongs to the exporter again once the next one is asked for.
  for await (const chunk of exporter(source, shape, facts, notes)) chunks.push(Buffer.from(chunk))
  return { bytes: Buffer.concat(chunks), notes }
}
