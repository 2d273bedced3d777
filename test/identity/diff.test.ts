import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COLUMNS, type KlineRow } from '../../src/candles/columns.js'
import { windowPath } from '../../src/candles/paths.js'
import { type DiffRequest, diffKlines } from '../../src/identity/diff.js'
import { exportLake } from '../../src/index.js'
import type { Format } from '../../src/options.js'
import { rowFormat, runExporter } from '../support/exporting.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { LEAP_MONTH, sampleRow, toBatch } from '../support/windows.js'

const HOUR = 3_600_000
const SERIES = { symbol: 'BTCUSDT', interval: '1h' } as const
const START = LEAP_MONTH.span.startTime
const NEXT = LEAP_MONTH.span.endTime
const rowAt = (hour: number, cells = {}) =>
  sampleRow(START + hour * HOUR, { 6: START + (hour + 1) * HOUR - 1, ...cells })
const ROWS = [0, 1, 2, 3, 4, 5].map(hour => rowAt(hour))
/** Another candle in all columns; `ignore` is no part of it. */
const OTHER = ROWS[2].map((cell, column) => {
  if (column === 0) return cell
  return typeof cell === 'number' ? cell - 1 : `${cell.slice(0, -1)}${9 - Number(cell.at(-1))}`
}) as KlineRow
/** Without the first candle and the fourth one, with one more at the end. */
const CHANGED = [ROWS[1], OTHER, ROWS[4], ROWS[5], rowAt(6)]

/** Writes a mirror of BTCUSDT 1h; the candles of its windows, by start date. */
function mirrorOf(windows: Record<string, unknown>): string {
  const root = join(tempFolder(), 'm')
  putFile(root, 'mirror.json', { layout: 1, baseUrl: 'https://mirror.example' })
  for (const [startDate, rows] of Object.entries(windows)) putFile(root, windowPath({ ...SERIES, startDate }), rows)
  return root
}

const diff = (a: string, b: string, request: Partial<DiffRequest> = {}) =>
  diffKlines({ sides: [a, b], most: Infinity, now: NEXT, ...request })

async function sideOf(kind: Format | 'lake', rows: readonly KlineRow[]): Promise<string> {
  const name = join(tempFolder(), kind === 'lake' ? 'lake' : `BTCUSDT-1h.${kind}`)
  if (kind === 'lake') {
    const request = { symbols: ['BTCUSDT'], intervals: ['1h' as const], offline: true, numbers: 'text' as const }
    await exportLake({ ...request, mirror: mirrorOf({ '2024-02-01': rows }), output: name, now: NEXT })
  } else writeFileSync(name, (await runExporter(kind, [toBatch(rows, LEAP_MONTH)], rowFormat())).bytes)
  return name
}

describe('diffKlines', () => {
  const only = { ...SERIES, kind: 'only', candles: 1 }
  const onlyAt = (row: KlineRow, side: string) => {
    return { ...only, side, firstOpenTime: row[0], lastOpenTime: row[0] }
  }
  const columns = COLUMNS.slice(1, -1)
  const differences = [
    onlyAt(ROWS[0], 'a'),
    ...columns.map((column, index) => {
      const [a, b] = [ROWS[2], OTHER].map(row => String(row[index + 1]))
      return { ...SERIES, kind: 'cell', openTime: OTHER[0], column, a, b }
    }),
    onlyAt(ROWS[3], 'a'),
    onlyAt(CHANGED[4], 'b'),
  ]

  it.each<Format | 'lake'>(['csv', 'json', 'jsonl', 'parquet', 'arrow', 'lake'])(
    'finds each cell and candle that differs between a mirror and %s',
    async kind => {
      const [name, mirror] = [await sideOf(kind, CHANGED), mirrorOf({ '2024-02-01': ROWS })]
      const counts = { both: 4, changedCandles: 1, changedCells: columns.length, onlyInA: 2, onlyInB: 1 }
      const found = await diff(mirror, name)
      expect(found).toMatchObject({ verdict: 'different', isWhole: true, differences })
      expect(found.series).toMatchObject([{ ...SERIES, ...counts, total: differences.length, failures: [] }])
      expect((await diff(mirror, name, { most: differences.length })).isWhole).toBe(true)
      const first = await diff(mirror, name, { most: 2 })
      expect(first).toMatchObject({ isWhole: false, differences: differences.slice(0, 2) })
      expect(first.series).toMatchObject([{ ...counts, total: differences.length }])
      expect((await diff(name, name)).verdict).toBe('equal')
      const range = { from: '2024-02-01T04:00', to: '2024-02-01T06:00' }
      expect(await diff(name, mirror, range)).toMatchObject({ verdict: 'equal', series: [{ both: 2 }] })
      expect((await diff(name, mirror, { from: '2024-02-02', to: '2024-02-03' })).verdict).toBe('empty')
    },
  )

  it('compares nothing of a window that is corrupt or missing on one side; a difference elsewhere wins', async () => {
    const next = [rowAt(29 * 24)]
    const [a, b] = [
      mirrorOf({ '2024-02-01': ROWS, '2024-03-01': next }),
      mirrorOf({ '2024-02-01': '[[', '2024-03-01': next }),
    ]
    const notCompared = { both: 1, notCompared: ROWS.length, total: 0 }
    for (const reason of [/^corrupt in the mirror: /, /^not in the mirror$/]) {
      for (const side of ['a', 'b']) {
        const found = await (side === 'a' ? diff(b, a) : diff(a, b))
        const failures = [{ side, window: { startDate: '2024-02-01' }, reason: expect.stringMatching(reason) }]
        expect(found).toMatchObject({ verdict: 'incomplete', series: [{ ...notCompared, failures }] })
      }
      rmSync(join(b, windowPath({ ...SERIES, startDate: '2024-02-01' })), { force: true })
    }
    putFile(b, windowPath({ ...SERIES, startDate: '2024-03-01' }), [rowAt(29 * 24, { 8: 7 })])
    expect(await diff(a, b)).toMatchObject({ verdict: 'different', series: [{ ...notCompared, total: 1 }] })
  })

  const ETH = windowPath({ symbol: 'ETHUSDT', interval: '1h', startDate: '2024-02-01' })
  it('beside a file compares its series alone, and one that is named wherever it is; of mirrors all', async () => {
    const mirror = mirrorOf({ '2024-02-01': ROWS })
    putFile(mirror, ETH, ROWS)
    const file = await sideOf('csv', ROWS)
    expect((await diff(mirror, file)).series).toMatchObject([{ symbol: 'BTCUSDT', both: 6, total: 0 }])
    const named = await diff(mirror, file, { symbols: ['ETHUSDT'], intervals: ['60m'] })
    expect(named.series).toMatchObject([{ symbol: 'ETHUSDT', onlyInA: 6, total: 1 }])
    // One series that is equal, and one that differs, or has no candle in the range.
    const other = mirrorOf({ '2024-02-01': ROWS })
    putFile(other, ETH, ROWS.slice(0, 5))
    expect(await diff(mirror, other)).toMatchObject({ verdict: 'different', series: [{ total: 0 }, { total: 1 }] })
    putFile(mirror, ETH, ROWS.slice(0, 5))
    const last = await diff(mirror, other, { from: '2024-02-01T05:00' })
    expect(last).toMatchObject({ verdict: 'equal', series: [{ both: 1 }, { both: 0 }] })
    await expect(diff(mirror, file, { symbols: ['ADAUSDT'] })).rejects.toMatchObject({ code: 'window_missing' })
  })
})
