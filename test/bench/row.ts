import { type Build, isInstalled, type Usage } from './programs.js'

/** A program that does a row's work. */
export interface Contender {
  readonly name: string
  /** Does the work once. Throws when it fails. */
  run(): Promise<Usage>
  /** Checks what its first run wrote. Throws if it is wrong. */
  check?(): Promise<void> | void
}

/** What one would use instead of klines, or less work of klines itself. */
export interface Peer extends Contender {
  /** The goal: the most that klines may take of what it takes. */
  readonly most?: number
  /** The program that it needs besides Node: without it, the peer is left out. */
  readonly program?: string
}

/** The same work, done by klines and others in turn. */
export interface Row {
  /** For the command line; several rows may share it. */
  readonly name: string
  readonly title: string
  /** Which figure is compared. Default: the time. */
  readonly figure?: 'ms' | 'mb'
  /** Runs of each contender in a round; more for short work, whose times vary. Default 1. */
  readonly runsPerRound?: number
  klines(build: Build): Contender
  readonly peers?: readonly Peer[]
  /** Goals for klines alone. */
  readonly limits?: { readonly ms?: number; readonly mb?: number }
  /** The goal for processor time beside an earlier build. */
  readonly mostOfEarlier?: number
}

/** The medians of a row's contenders, klines first. */
export interface Result {
  readonly row: Row
  readonly contenders: readonly { readonly name: string; readonly most?: number; readonly usage: Usage }[]
}

/**
 * Runs the contenders of a row `rounds` times in turn, A B C A B C, so that other load on the machine affects all of them. With an
 * `earlier` build, klines runs beside that one instead of its peers.
 */
export async function measureRow(row: Row, rounds: number, build: Build, earlier?: Build): Promise<Result> {
  const peers = (row.peers ?? []).filter(({ program }) => program === undefined || isInstalled(program))
  const contenders: Peer[] = [row.klines(build), ...(earlier ? [row.klines(earlier)] : peers)]
  const runs = contenders.map((): Usage[] => [])
  for (let round = 0; round < rounds * (row.runsPerRound ?? 1); round++) {
    for (const [index, contender] of contenders.entries()) {
      runs[index].push(await contender.run())
      if (round === 0) await contender.check?.()
    }
  }
  return { row, contenders: contenders.map(({ name, most }, index) => ({ name, most, usage: medians(runs[index]) })) }
}

/** The median of each figure. */
export function medians(runs: readonly Usage[]): Usage {
  const of = (figure: keyof Usage) => median(runs.map(usage => usage[figure]))
  return { ms: of('ms'), cpuMs: of('cpuMs'), mb: of('mb') }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
