import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { INTERVALS } from '../../src/candles/intervals.js'
import { type Series, seriesName } from '../../src/candles/series.js'
import { GapCounter } from '../../src/rows/gap-counter.js'
import type { KlineBatch } from '../../src/rows/kline-batch.js'
import { decodeWindow } from '../../src/rows/window-codec.js'
import { rowFormat, runExporter } from '../support/exporting.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'

const SYMBOLS = ['BTCUSDT', 'ADAUSDT', 'DOTUSDT'] as const
const [VOLUME, QUOTE_VOLUME] = [5, 7]

/** Every window of a series, in the order of the slice's list of start dates. */
function readWindows(root: string, { symbol, interval }: Series): KlineBatch[] {
  const list = JSON.parse(readFileSync(join(root, `api/klines/start-dates/${interval}.json`), 'utf8')) as string[]
  return list
    .map(startDate => ({ startDate, path: join(root, `api/klines/${interval}/${symbol}/${startDate}.json`) }))
    .filter(({ path }) => existsSync(path))
    .map(({ startDate, path }) => decodeWindow(readFileSync(path), { symbol, interval, startDate }))
}

/** The exact sum of a column, with 8 decimals. */
function sumColumn(batches: readonly KlineBatch[], column: number): string {
  let sum = 0n
  for (const batch of batches) {
    for (let row = 0; row < batch.length; row++) sum += BigInt(batch.text(row, column).replace(/\.(\d{8})$/, '$1'))
  }
  const digits = String(sum).padStart(9, '0')
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`
}

describe.skipIf(!hasRealTree)('on real candles (skipped without ../shared/data)', () => {
  const all = SYMBOLS.flatMap(symbol => INTERVALS.map((interval): Series => ({ symbol, interval })))

  test.each(all.map(series => [seriesName(series), series] as const))(
    '%s: rows, gaps, exact sums and the CSV are those of an independent program',
    async (_, series) => {
      const expected = expectedSeries()[series.symbol][series.interval]
      const batches = readWindows(realTree(), series)
      const tally = new GapCounter(series)
      for (const batch of batches) tally.add(batch)
      const { bytes } = await runExporter('csv', batches, rowFormat())
      expect({
        windows: batches.length,
        nonEmptyWindows: batches.filter(({ length }) => length > 0).length,
        ...tally.totals,
        volume: sumColumn(batches, VOLUME),
        quoteVolume: sumColumn(batches, QUOTE_VOLUME),
        csvSha256: createHash('sha256').update(bytes).digest('hex'),
      }).toEqual({
        windows: expected.windows,
        nonEmptyWindows: expected.nonEmptyWindows,
        candles: expected.rows,
        firstOpenTime: expected.firstOpenTime,
        lastOpenTime: expected.lastOpenTime,
        gaps: expected.gaps,
        missing: expected.missing,
        volume: expected.volume,
        quoteVolume: expected.quoteVolume,
        csvSha256: expected.csvSha256,
      })
    },
  )
})
