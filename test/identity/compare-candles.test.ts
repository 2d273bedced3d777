import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COLUMNS, type KlineRow } from '../../src/candles/columns.js'
import { compareCandles, type Difference } from '../../src/identity/compare-candles.js'
import type { KlineBatch } from '../../src/rows/kline-batch.js'
import { BatchBuilder } from '../../src/rows/kline-batch.js'
import { cases } from '../support/cases.js'
import { cutBatches, cutPoints } from '../support/exporting.js'
import { LEAP_MONTH, sampleRow, toBatch } from '../support/windows.js'

const START = LEAP_MONTH.span.startTime
const HOUR = 3_600_000
/** The columns of decimals. */
const DECIMALS = [1, 2, 3, 4, 5, 7, 9, 10]

/** What is done to a candle that both sides have. */
const mutations = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'none' } as const) },
  fc.constantFrom({ kind: 'onlyInA' } as const, { kind: 'onlyInB' } as const),
  fc.record({
    kind: fc.constant('cells' as const),
    columns: fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], { minLength: 1 }),
  }),
  // The same values in other texts, which are no differences.
  fc.record({ kind: fc.constant('texts' as const), columns: fc.subarray([...DECIMALS, 11], { minLength: 1 }) }),
  // A window that one side lacks.
  fc.constantFrom({ kind: 'lackedByA' } as const, { kind: 'lackedByB' } as const),
)

/** Candles of a month by their hours, some of which no side has, and what is done to each. */
const months = fc.array(fc.option(mutations, { nil: undefined, freq: 8 }), { maxLength: 60 })

type Mutation = typeof mutations extends fc.Arbitrary<infer M> ? M : never

function changeCells(row: KlineRow, columns: readonly number[], change: (cell: string | number) => string | number) {
  return row.map((cell, column) => (columns.includes(column) ? change(cell) : cell)) as KlineRow
}

/** Candles of a side, and what was done, as the test knows it. */
function mutate(month: readonly (Mutation | undefined)[]) {
  const a: KlineRow[] = []
  const b: KlineRow[] = []
  const lacked = { a: new Set<number>(), b: new Set<number>() }
  const cells: unknown[] = []
  const only = { a: [] as number[], b: [] as number[] }
  let changedCandles = 0
  for (const [hour, mutation] of month.entries()) {
    if (mutation === undefined) continue
    const openTime = START + hour * HOUR
    const row = sampleRow(openTime, { 6: openTime + HOUR - 1, 5: `${hour}.50`, 8: hour })
    let other = row
    const { kind } = mutation
    if (kind === 'cells') {
      other = changeCells(row, mutation.columns, cell =>
        // A candle may close early, and has no negative count.
        typeof cell === 'number' ? (cell > START ? cell - 1 : cell + 1) : `1${cell}`,
      )
      for (const column of mutation.columns) {
        cells.push({ openTime, column: COLUMNS[column], a: String(row[column]), b: String(other[column]) })
      }
      changedCandles++
    }
    if (kind === 'texts') other = changeCells(row, mutation.columns, cell => (cell === '0' ? 'x' : `0${cell}0`))
    if (kind === 'onlyInA' || kind === 'onlyInB') only[kind === 'onlyInA' ? 'a' : 'b'].push(openTime)
    if (kind === 'lackedByA' || kind === 'lackedByB') lacked[kind === 'lackedByA' ? 'a' : 'b'].add(openTime)
    if (kind !== 'onlyInB' && kind !== 'lackedByA') a.push(row)
    if (kind !== 'onlyInA' && kind !== 'lackedByB') b.push(other)
  }
  return { a, b, lacked, cells, only, changedCandles }
}

function open(batches: readonly KlineBatch[], lacked: ReadonlySet<number>) {
  return {
    async *batches() {
      yield* batches
    },
    lacks: (openTime: number) => lacked.has(openTime),
  }
}

const firstTime = (difference: Difference) =>
  difference.kind === 'cell' ? difference.openTime : difference.firstOpenTime

describe('two sides of a series', () => {
  it('all mutations are found and none is invented, in order of time, however the candles come in batches', async () => {
    await fc.assert(
      fc.asyncProperty(months, cutPoints, cutPoints, async (month, cutsA, cutsB) => {
        const known = mutate(month)
        const batchesOf = (rows: readonly KlineRow[], cuts: readonly number[]) =>
          cutBatches([toBatch(rows, LEAP_MONTH)], cuts)
        const sides = {
          a: open(batchesOf(known.a, cutsA), known.lacked.a),
          b: open(batchesOf(known.b, cutsB), known.lacked.b),
        }
        const { differences: found, total, ...counts } = await compareCandles('1h', sides, Infinity)
        expect(found).toHaveLength(total)

        expect(found.map(firstTime)).toEqual(found.map(firstTime).toSorted((x, y) => x - y))
        const cells = found.flatMap(one => (one.kind === 'cell' ? one : []))
        expect(cells.map(({ kind: _, ...cell }) => cell)).toEqual(known.cells)
        const onlyIn = (name: 'a' | 'b') => found.flatMap(one => (one.kind === 'only' && one.side === name ? one : []))
        for (const side of ['a', 'b'] as const) {
          const times = onlyIn(side).flatMap(({ firstOpenTime, candles }) =>
            Array.from({ length: candles }, (_, index) => firstOpenTime + index * HOUR),
          )
          expect(times).toEqual(known.only[side])
          for (const { firstOpenTime, lastOpenTime, candles } of onlyIn(side))
            expect(lastOpenTime).toBe(firstOpenTime + (candles - 1) * HOUR)
        }
        expect(counts).toEqual({
          both: known.a.length - known.only.a.length - known.lacked.b.size,
          changedCandles: known.changedCandles,
          changedCells: known.cells.length,
          onlyInA: known.only.a.length,
          onlyInB: known.only.b.length,
          notCompared: known.lacked.a.size + known.lacked.b.size,
        })
      }),
      { numRuns: cases(3000, 150) },
    )
  })

  it('decimals are compared by value, whatever their length', async () => {
    const pairs: [string, string, boolean][] = [
      ['1.50', '1.5', true],
      ['0.00000000', '0', true],
      ['007', '7.000', true],
      ['12345678901234567890.123456789012', '12345678901234567890.1234567890120', true],
      ['12345678901234567890.123456789012', '12345678901234567890.123456789013', false],
      ['10', '1', false],
      ['0.1', '0.01', false],
    ]
    for (const [before, after, isEqual] of pairs) {
      const side = (text: string) => open([toBatch([sampleRow(START, { 7: text })], LEAP_MONTH)], new Set())
      const sides = { a: side(before), b: side(after) }
      const { differences: found } = await compareCandles('1h', sides, Infinity)
      const cell = { kind: 'cell', openTime: START, column: 'quote_volume', a: before, b: after }
      expect(found).toEqual(isEqual ? [] : [cell])
    }
  })

  it('cells that only differ in where they are cut are different', async () => {
    // The cells of a file lie in memory without anything between them.
    const side = (cells: Record<number, string>) => {
      const builder = new BatchBuilder({ symbol: 'BTCUSDT', interval: '1h' })
      const row = sampleRow(START, cells)
      builder.add(row.map(String), [row[0], row[6], row[8]])
      return open(
        [builder.take()].flatMap(batch => batch ?? []),
        new Set(),
      )
    }
    const sides = { a: side({ 3: '12', 4: '3' }), b: side({ 3: '1', 4: '23' }) }
    const { differences: found } = await compareCandles('1h', sides, Infinity)
    expect(found.map(one => one.kind === 'cell' && [one.column, one.a, one.b])).toEqual([
      ['low', '12', '1'],
      ['close', '3', '23'],
    ])
  })
})
