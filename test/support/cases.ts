import { SOAK } from './soak.js'

/** Whether tests with very many cases run all of them, as a soak of full length does. `npm test` runs fewer, and always the same ones. */
export const FULL = SOAK >= 1

/** How many cases a test runs: `full` of them in a soak, otherwise `short`. */
export function cases(full: number, short: number): number {
  return FULL ? full : short
}

/** The numbers of the calls that a loop makes fail: every `step`-th one in a soak; otherwise of these the first, the last and each `part`-th. */
export function callNumbers(most: number, step = 1, part = 5): number[] {
  const all = Array.from({ length: Math.ceil(most / step) }, (_, index) => 1 + index * step)
  return all.filter((_, index) => FULL || index % part === 0 || index === all.length - 1)
}

/**
 * The numbers of the calls that a loop makes fail in a soak: of each kind the first and the last call, and every `step`-th
 * of all calls. A kind is an operation on a file; `kinds` has that of each call, in order.
 */
export function callsOfEachKind(kinds: readonly string[], step: number): number[] {
  const isChosen = (kind: string, index: number) =>
    index % step === 0 || kinds.indexOf(kind) === index || kinds.lastIndexOf(kind) === index
  return kinds.flatMap((kind, index) => (isChosen(kind, index) ? [index + 1] : []))
}

/** The path of a file without what differs between runs, and between files of one kind: numbers and ids. */
export function kindOfFile(path: string): string {
  return path.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16}|\d+/g, '#')
}
