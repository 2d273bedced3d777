import type { Measured, Row } from './row.js'
import { type Comparison, compareBound, comparePeer } from './target.js'

/** What a contender's runs gave. */
export interface Figures {
  readonly name: string
  readonly median: number
  readonly runs: readonly Measured[]
}

/** What a row gave. */
export interface Result {
  readonly section: string
  readonly title: string
  readonly unit: string
  /** Ours first. */
  readonly contenders: readonly Figures[]
  readonly comparisons: readonly Comparison[]
}

/**
 * Runs the contenders of a row `rounds` times in turn, A B C A B C: whatever else the machine does hits all of them.
 * What each leaves behind is checked once, after its first run. Throws what a run or a check throws, and the
 * signal's reason once it is aborted.
 */
export async function measureRow(section: string, row: Row, rounds: number, signal: AbortSignal): Promise<Result> {
  const runs = row.contenders.map((): Measured[] => [])
  for (let round = 0; round < rounds; round++) {
    for (let repeat = 0; repeat < (row.runsPerRound ?? 1); repeat++) {
      for (const [index, contender] of row.contenders.entries()) {
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

/** Ours beside each peer, and beside the bounds that name none; ratios are of medians. */
function compare({ targets }: Row, [ours, ...peers]: readonly Figures[]): Comparison[] {
  const bounds = targets.filter(({ peer }) => peer === undefined)
  const beside = peers.map(({ name, median: theirs }) => {
    return comparePeer(
      ours.median,
      name,
      theirs,
      targets.find(({ peer }) => peer === name),
    )
  })
  const compared = [...beside, ...bounds.map(bound => compareBound(ours.median, bound))]
  return compared.length > 0 ? compared : [{}]
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
