import type { Target } from './target.js'

/** What a row measures; less is better unless it is a rate. */
export type Unit = 'ms' | 'MB' | 'requests/s' | 'files/s' | 'requests'

/** What one run gave, in the row's unit, and what else it showed. */
export interface Measured {
  readonly value: number
  readonly detail?: Readonly<Record<string, number>>
}

/** One of those that do a row's work: ours, or a peer. */
export interface Contender {
  readonly name: string
  /** The program it needs beside Node; without it the contender is left out, and the table says so. */
  readonly program?: string
  /** Does the work once. Throws when it fails. */
  measure(): Promise<Measured>
  /** Looks at what its first run left behind. Throws when that is not the work asked for. */
  check?(): Promise<void> | void
}

/** The same work done by each contender in turn. */
export interface Row {
  readonly title: string
  readonly unit: Unit
  /** Ours first. */
  readonly contenders: readonly [Contender, ...Contender[]]
  readonly targets: readonly Target[]
  /** Runs of each contender in a round, for work so short that one says little. Default 1. */
  readonly runsPerRound?: number
}
