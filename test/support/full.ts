import type { Parameters } from 'fast-check'
import type { TestContext } from 'vitest'

/**
 * Whether tests of random or very many cases run all of them, as `.ci/run` does. `npm test` takes about a second for each, so that
 * it answers soon.
 */
export const FULL = process.env.KLINES_TEST_FULL === '1'

/** How many cases a test runs: `full` of them, or `short` in about a second. */
export function cases(full: number, short: number): number {
  return FULL ? full : short
}

/** Parameters of a synchronous property: up to `numRuns` cases, and no further one after half a second unless all have to run. */
export function timeBox<T>(numRuns: number): Parameters<T> {
  return FULL ? { numRuns } : { numRuns, interruptAfterTimeLimit: 500 }
}

/**
 * The numbers of the calls that a loop makes fail: every `step`-th one when all cases run, otherwise the first one, the last one and
 * one of `count` others, from a random one on.
 */
export function callNumbers(most: number, step = 1, count = 5): number[] {
  const all = Array.from({ length: Math.ceil(most / step) }, (_, index) => 1 + index * step)
  return [...all.slice(0, 1), ...oneOf(count, all.slice(1, -1)), ...all.slice(1).slice(-1)]
}

/**
 * The numbers of the calls that a loop makes fail when all cases run: of each kind the first and the last call, and every `step`-th
 * of all calls. A kind is an operation on a file; `kinds` has that of each call, in order.
 */
export function callsOfEachKind(kinds: readonly string[], step: number): number[] {
  const isChosen = (kind: string, index: number) =>
    index % step === 0 || kinds.indexOf(kind) === index || kinds.lastIndexOf(kind) === index
  return kinds.flatMap((kind, index) => (isChosen(kind, index) ? [index + 1] : []))
}

/** The same, and all numbers after the last call up to `most`: a loop ends at the first one without a call. */
export function callsUpTo(most: number, kinds: readonly string[], step: number): number[] {
  const rest = Array.from({ length: most - kinds.length }, (_, index) => kinds.length + 1 + index)
  return [...callsOfEachKind(kinds, step), ...rest]
}

/** The path of a file without what differs between runs, and between files of one kind: numbers and ids. */
export function kindOfFile(path: string): string {
  return path.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16}|\d+/g, '#')
}

/** All items when all cases run, otherwise one of `count`, from a random one on. */
export function oneOf<T>(count: number, items: readonly T[]): T[] {
  const offset = Math.floor(count * Math.random())
  return items.filter((_, index) => FULL || index % count === offset)
}

type DefineTest = (name: string, test: (context: TestContext) => unknown) => unknown

/**
 * `it`, or `it.concurrent`, for tests that are alike but have no table: defines all when all cases run, otherwise one of `count`. A
 * suite must have at least `count` of them, or others: one without a test fails.
 */
export function oneTestOf(count: number, define: DefineTest): DefineTest {
  const offset = Math.floor(count * Math.random())
  let defined = 0
  return (name, test) => {
    if (FULL || defined++ % count === offset) define(name, test)
  }
}
