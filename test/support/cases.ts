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
