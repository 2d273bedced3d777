import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { COLUMNS } from '../../src/candles/columns.js'
import { diffBatches } from '../../src/rows/diff.js'
import { klineRows } from '../support/oracles/kline-arbitraries.js'
import { LEAP_MONTH, sampleRow, toBatch } from '../support/windows.js'

const START = LEAP_MONTH.span.startTime
const batch = (...rows: unknown[]) => toBatch(rows, LEAP_MONTH)
const rows = [0, 1, 2, 3].map(hour => sampleRow(START + hour * 3_600_000))
const NOTHING = { lost: [], added: [], changed: [] }

describe('a newer version of a window is compared with the cached one', () => {
  test('a cell whose text differs is changed, even when the number is the same', () => {
    const next = sampleRow(START, { 4: '42570.10', 6: START + 5, 8: 53_211, 11: 'x' })
    expect(diffBatches(batch(...rows), batch(next, ...rows.slice(1)))).toEqual({
      ...NOTHING,
      changed: [
        { openTime: START, column: 'close', before: '42570.10000000', after: '42570.10' },
        { openTime: START, column: 'close_time', before: String(START + 899_999), after: String(START + 5) },
        { openTime: START, column: 'count', before: '53210', after: '53211' },
        { openTime: START, column: 'ignore', before: '0', after: 'x' },
      ],
    })
  })

  test('any two versions differ as sets of open times and cells do', () => {
    const versions = fc
      .tuple(klineRows(LEAP_MONTH, { maxRows: 8 }), fc.infiniteStream(fc.nat(3)))
      .map(([all, kinds]) => {
        const [cached, next] = [[], []] as (typeof all)[]
        for (const row of all) {
          const kind = kinds.next().value
          if (kind !== 1) cached.push(row)
          if (kind !== 2) next.push(kind === 3 ? (row.with(5, '7.7') as typeof row) : row)
        }
        return { cached, next }
      })
    fc.assert(
      fc.property(versions, ({ cached, next }) => {
        const byTime = (rows: typeof cached) => new Map(rows.map(row => [row[0], row]))
        const [before, after] = [byTime(cached), byTime(next)]
        expect(diffBatches(batch(...cached), batch(...next))).toEqual({
          lost: cached.map(row => row[0]).filter(time => !after.has(time)),
          added: next.map(row => row[0]).filter(time => !before.has(time)),
          changed: cached.flatMap(row =>
            row.flatMap((cell, index) => {
              const now = after.get(row[0])?.[index]
              const same = now === undefined || now === cell
              return same ? [] : [{ openTime: row[0], column: COLUMNS[index], before: `${cell}`, after: `${now}` }]
            }),
          ),
        })
      }),
      { numRuns: 500 },
    )
  })
})
