import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { downloadKlines } from '../../src/engine/klines.js'
import { downloadSetup, readJson } from '../support/download-setup.js'
import {
  FULL_WEEKS,
  OPEN_WEEK,
  putFile,
  RENDERED,
  type Row,
  STARTED,
  weekPath,
  weekRows,
} from '../support/synthetic-tree.js'

const [WEEK] = FULL_WEEKS
const DAY = 86_400_000
const path = (startDate: string) => weekPath('BTCUSDT', startDate)
/** The volume that the service changes a candle to. */
const RESTATED = '9.99000000'

/** Rows of a week with some cells changed: row, element, value. */
function changedRows(startDate: string, cells: [number, number, string | number][], options = {}): Row[] {
  const rows = weekRows(startDate, options)
  for (const [row, element, value] of cells) rows[row] = rows[row].with(element, value) as Row
  return rows
}

const NOTHING = { restated: 0, changes: [] }
const cell = (row: Row, column: string, before: string, after: string) => ({ openTime: row[0], column, before, after })

describe('values that the service changed', () => {
  it('in a final window are not downloaded by a plain run; with refresh exactly these are reported', async () => {
    const { tree, server, mirror, request } = await downloadSetup()
    await downloadKlines(request)
    const rows = changedRows(WEEK, [
      [0, 5, RESTATED],
      [0, 8, 43],
      [7, 4, '1.00000000'],
    ])
    putFile(tree, path(WEEK), rows, RENDERED + DAY)
    server.reset()
    expect((await downloadKlines(request)).series).toMatchObject([NOTHING])
    expect(server.paths('windows')).not.toContain(path(WEEK))
    server.reset()
    const report = await downloadKlines({ ...request, refresh: true })
    expect(server.paths('windows').sort()).toEqual(STARTED.map(path))
    expect(server.log.every(({ headers }) => headers['if-modified-since'] === undefined)).toBe(true)
    expect(report.series[0]).toMatchObject({ restated: 2, windows: { fetched: 7, retained: 0 } })
    expect(report.series[0].changes).toEqual([
      cell(rows[0], 'volume', '3.50000000', RESTATED),
      cell(rows[0], 'count', '42', '43'),
      cell(rows[7], 'close', weekRows(WEEK)[7][4], '1.00000000'),
    ])
    expect(readJson(mirror, path(WEEK))).toEqual(rows)
    expect((await downloadKlines({ ...request, refresh: true })).series).toMatchObject([NOTHING])
  })

  it('a candle that fills a gap is new and none that changed', async () => {
    const { tree, mirror, request } = await downloadSetup()
    const rows = weekRows(OPEN_WEEK, { days: 3 })
    putFile(tree, path(OPEN_WEEK), rows.toSpliced(1, 1), RENDERED)
    await downloadKlines(request)
    putFile(tree, path(OPEN_WEEK), weekRows(OPEN_WEEK, { days: 4 }), RENDERED + DAY)
    // Of the two new candles, one is in the range.
    const range = { from: '2025-02-12', now: RENDERED + 2 * DAY }
    const [report] = (await downloadKlines({ ...request, ...range })).series
    const { openTime } = cell(rows[1], '', '', '')
    const filled = { openTime, column: 'open_time', before: null, after: String(openTime) }
    expect(report).toMatchObject({ restated: 0, newCandles: 1, changes: [filled] })
    expect(JSON.parse(readFileSync(join(mirror, 'changes.jsonl'), 'utf8'))).toMatchObject(filled)
  })

  it('in a window that is not final are reported without refresh, and new candles do not count as changes', async () => {
    const { tree, mirror, request } = await downloadSetup()
    await downloadKlines(request)
    const rows = changedRows(OPEN_WEEK, [[1, 7, RESTATED]], { days: 3 })
    putFile(tree, path(OPEN_WEEK), rows, RENDERED + DAY)
    const later = { ...request, now: RENDERED + 2 * DAY }
    const report = await downloadKlines(later)
    expect(report.series[0]).toMatchObject({ candles: 43, restated: 1 })
    expect(report.series[0].changes).toEqual([
      cell(rows[1], 'quote_volume', String(weekRows(OPEN_WEEK)[1][7]), RESTATED),
    ])
    expect(readJson(mirror, path(OPEN_WEEK))).toEqual(rows)
  })
})
