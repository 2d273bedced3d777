import { COLUMN_KINDS } from '../candles/columns.js'
import { trimDecimal } from '../candles/decimals.js'
import { addLengths } from '../candles/intervals.js'
import { type ChangedCell, diffRows, isSameCell } from '../rows/diff.js'
import type { KlineBatch } from '../rows/kline-batch.js'
import { parseTargetInterval } from '../rows/target-interval.js'

export interface ComparedCandles {
  /** In order of time. A batch is used until the next one is requested. */
  batches(): AsyncIterable<KlineBatch>
  /** Whether the side lacks the window of an open time at which the other side has a candle: nobody knows what is in it. */
  lacks(openTime: number): boolean
}

export type SideName = 'a' | 'b'

/** Consecutive candles that only one side has. */
interface OnlyCandles {
  readonly kind: 'only'
  readonly side: SideName
  readonly firstOpenTime: number
  lastOpenTime: number
  candles: number
}

type Cell = Record<SideName, string | null> & Pick<ChangedCell, 'openTime' | 'column'> & { readonly kind: 'cell' }
export type Difference = Cell | OnlyCandles

/**
 * Compares the candles of two sides by open time: times and numbers of trades as numbers, decimals by value, whatever their number of
 * zeros; `ignore` is no part of a candle. Keeps `most` differences, in order of time.
 */
export async function compareCandles(
  interval: string,
  sides: Readonly<Record<SideName, ComparedCandles>>,
  most: number,
) {
  const { length } = parseTargetInterval(interval)
  const counts = { both: 0, changedCandles: 0, changedCells: 0, onlyInA: 0, onlyInB: 0, notCompared: 0 }
  const differences: Difference[] = []
  let total = 0
  const add = (difference: Difference) => {
    if (++total <= most) differences.push(difference)
  }
  /** The candles of one side that the next one may belong to. */
  let run: OnlyCandles | undefined
  const addOnly = (side: SideName, openTime: number) => {
    counts[side === 'a' ? 'onlyInA' : 'onlyInB']++
    if (run?.side === side && openTime === addLengths(length, run.lastOpenTime)) {
      run.lastOpenTime = openTime
      run.candles++
    } else {
      run = { kind: 'only', side, firstOpenTime: openTime, lastOpenTime: openTime, candles: 1 }
      add(run)
    }
  }
  const rows = { a: rowsOf(sides.a), b: rowsOf(sides.b) }
  try {
    const next = { a: await rows.a.next(), b: await rows.b.next() }
    while (!next.a.done || !next.b.done) {
      const [a, b] = [next.a.value, next.b.value]
      const [time, other] = [a?.openTime ?? Infinity, b?.openTime ?? Infinity]
      if (a && b && time === other) {
        run = undefined
        counts.both++
        const cells = diffRows(a.batch, a.row, b.batch, b.row, isSameValue)
        if (cells.length > 0) counts.changedCandles++
        counts.changedCells += cells.length
        for (const { before, after, ...cell } of cells) add({ kind: 'cell', ...cell, a: before, b: after })
      } else {
        const [side, lacking] = time < other ? (['a', 'b'] as const) : (['b', 'a'] as const)
        const openTime = Math.min(time, other)
        if (sides[lacking].lacks(openTime)) {
          counts.notCompared++
          run = undefined
        } else addOnly(side, openTime)
      }
      if (time <= other) next.a = await rows.a.next()
      if (other <= time) next.b = await rows.b.next()
    }
  } finally {
    await rows.a.return(undefined)
    await rows.b.return(undefined)
  }
  return { ...counts, differences, total }
}

async function* rowsOf({ batches }: ComparedCandles) {
  for await (const batch of batches())
    for (let row = 0; row < batch.length; row++) yield { batch, row, openTime: batch.openTime(row) }
}

function isSameValue(a: KlineBatch, row: number, b: KlineBatch, otherRow: number, column: number): boolean {
  if (isSameCell(a, row, b, otherRow, column)) return true
  const kind = COLUMN_KINDS[column]
  if (kind === 'text') return true
  const [text, other] = [a.text(row, column), b.text(otherRow, column)]
  return kind === 'decimal' ? trimDecimal(text) === trimDecimal(other) : Number(text) === Number(other)
}
