import type { Target } from './target.js'

/** What a row measures; less is better unless it is a rate. */
export type Unit = 'ms' | 'ns' | 'MB' | 'requests/s' | 'files/s' | 'requests'

/** The figure of one run, in the row's unit, and further figures. */
export interface Measured {
  readonly value: number
  readonly detail?: Readonly<Record<string, number>>
}

/** A program that does a row's work: klines or a peer. */
export interface Contender {
  readonly name: string
  /** The program it needs besides Node. If it is missing, the contender is skipped and the table lists it. */
  readonly program?: string
  /** The most runs of it, for work of minutes; its name should say so. Default: as many as the others. */
  readonly maxRuns?: number
  /** Does the work once. Throws when it fails. */
  measure(): Promise<Measured>
  /** Checks the output of its first run. Throws if it is wrong. */
  check?(): Promise<void> | void
}

/** The same work, done by each contender in turn. */
export interface Row {
  readonly title: string
  readonly unit: Unit
  /** klines first. */
  readonly contenders: readonly [Contender, ...Contender[]]
  readonly targets: readonly Target[]
  /** Runs of each contender in a round; more for short work, whose times vary. Default 1. */
  readonly runsPerRound?: number
  /** Whether src/docs/reliability.md has it. */
  readonly isHeadline?: boolean
}
