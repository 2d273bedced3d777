import { describe, expect, it } from 'vitest'
import { CandleTable, type CandleTableOptions } from '../../../src/cli/terminal/candle-table.js'
import type { KlineBatch } from '../../../src/rows/kline-batch.js'
import { METADATA, rowFormat } from '../../support/exporting.js'
import { LEAP_MONTH, sampleRow, toBatch } from '../../support/windows.js'

const HOUR = 3_600_000

/** What a table of some batches prints, and what it says it left out. */
async function show(batches: readonly KlineBatch[], options: Partial<CandleTableOptions> = {}, source = 'x') {
  const defaults = { columns: undefined, timeFormat: undefined, isExcerpt: false, width: 80 }
  const table = new CandleTable({ ...defaults, ...options })
  let text = ''
  const exporter = table.toStdout(undefined).openExporter?.({
    rowFormat: rowFormat(),
    metadata: { ...METADATA, source },
    stats: { inexactDoubles: 0 },
    emit: async bytes => {
      text += Buffer.from(bytes)
    },
  })
  for (const batch of batches) await exporter?.write(batch)
  await exporter?.end()
  return { lines: text.split('\n'), omitted: table.omitted }
}

/** Candles of BTCUSDT 1h from February 2024 on, some hours after its start. */
const hours = (first: number, count: number, cells: (index: number) => Record<number, unknown> = () => ({})) => {
  const rows = Array.from({ length: count }, (_, index) => {
    const openTime = LEAP_MONTH.span.startTime + (first + index) * HOUR
    return sampleRow(openTime, { 6: openTime + HOUR - 1, 1: `${first + index}.00000000`, ...cells(index) })
  })
  return toBatch(rows, LEAP_MONTH)
}

describe('a table of candles', () => {
  it('has the newest 20 of all batches, seven columns, and says what is left', async () => {
    const { lines, omitted } = await show([hours(0, 25), hours(25, 3), hours(28, 2)])
    expect(lines[0]).toBe('BTCUSDT 1h, times in UTC')
    expect(lines[1].split(/ +/)).toEqual(['time', 'open', 'high', 'low', 'close', 'volume', 'count'])
    const opens = lines.slice(2, -1).map(line => Number(line.split(/ +/)[2]))
    expect(opens).toEqual(Array.from({ length: 20 }, (_, index) => 10 + index))
    expect(lines[2]).toBe('2024-02-01 10:00    10  42600.5  42554.57  42570.1  1195.56  53210')
    expect(omitted).toBe('... 10 more; -o FILE writes all. 5 more columns: --columns')
  })

  it('has the columns and the times that the user names', async () => {
    const columns = ['interval', 'close_time', 'ignore', 'open_time'] as const
    const batch = hours(0, 1, () => ({ 11: 'a\n"\u202eb' }))
    const { lines, omitted } = await show([batch], { columns, timeFormat: 's' })
    expect(lines).toEqual([
      'BTCUSDT 1h',
      'interval      close_time  ignore         open_time',
      '1h        1706749199.999  a\\n\\"\\u202eb  1706745600',
      '',
    ])
    expect(omitted).toBe('')
    const narrow = await show([batch], { columns, timeFormat: 'ms', width: 30 })
    expect(narrow.lines.slice(1, 7)).toEqual([
      'interval     close_time',
      '1h        1706749199999',
      '',
      'interval  ignore',
      '1h        a\\n\\"\\u202eb',
      '',
    ])
  })

  it('of the sample says so', async () => {
    const { lines, omitted } = await show([hours(0, 30)], {}, 'sample')
    expect(lines[0]).toBe('BTCUSDT 1h, times in UTC, synthetic sample data')
    expect(omitted.startsWith('... 10 more')).toBe(true)
  })
})
