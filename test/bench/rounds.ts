import type { Measured, Row } from './row.js'
import { type Comparison, compareBound, comparePeer } from './target.js'

/** The figures of a contender's runs. */
export interface Figures {
  readonly name: string
  readonly median: number
  readonly runs: readonly Measured[]
}

/** The result of a row. */
export interface Result {
  readonly section: string
  readonly title: string
  readonly unit: string
  /** klines first. */
  readonly contenders: readonly Figures[]
  readonly comparisons: readonly Comparison[]
}

/**
 * Runs the contenders of a row `rounds` times in turn, A B C A B C, so that other load on the machine affects all of them.
 * Checks the output of each after its first run. Throws what a run or a check throws, and the signal's reason when aborted.
 */
export async function measureRow(section: string, row: Row, rounds: number, signal: AbortSignal): Promise<Result> {
  const runs = row.contenders.map((): Measured[] => [])
  for (let round = 0; round < rounds; round++) {
    for (let repeat = 0; repeat < (row.runsPerRound ?? 1); repeat++) {
      for (const [index, contender] of row.contenders.entries()) {
        if (runs[index].length === contender.maxRuns) continue
        signal.throwIfAborted()
        runs[index].push(await contender.measure())
        if (runs[index].length === 1) await contender.check?.()
      }
    }
  }
  const contenders = row.contenders.map(({ name }, index) => {
    return { name, median: median(runs[index].map(({ value }) => value)), runs: runs[index] }
  })
  return { section, title: row.title, unit: row.unit, contenders, comparisons: compare(row, contenders) }
}

/** The median one of several measurements of a row, by the first ratio, with the spread of each ratio. */
export function combine(results: readonly Result[]): Result {
  const sorted = results.toSorted((a, b) => (a.comparisons[0].ratio ?? 0) - (b.comparisons[0].ratio ?? 0))
  const middle = sorted[sorted.length >> 1]
  if (results.length === 1) return middle
  const comparisons = middle.comparisons.map((comparison, index): Comparison => {
    const ratios = results.flatMap(result => result.comparisons[index].ratio ?? [])
    return ratios.length === 0 ? comparison : { ...comparison, spread: [Math.min(...ratios), Math.max(...ratios)] }
  })
  return { ...middle, comparisons }
}

/** Compares the median of klines with that of each peer, and with the bounds that name no peer. */
function compare({ targets }: Row, [ours, ...peers]: readonly Figures[]): Comparison[] {
  const bounds = targets.filter(({ peer }) => peer === undefined)
  const comparisons = peers.map(({ name, median: peerMedian }) => {
    return comparePeer(
      ours.median,
      name,
      peerMedian,
      targets.find(({ peer }) => peer === name),
    )
  })
  const compared = [...comparisons, ...bounds.map(bound => compareBound(ours.median, bound))]
  return compared.length > 0 ? compared : [{}]
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
