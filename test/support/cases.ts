import { SOAK } from './soak.js'

/** Whether tests with very many cases run all of them, as a soak of full length does. `npm test` runs fewer, and always the same ones. */
export const FULL = SOAK >= 1

/** How many cases a test runs: `full` of them in a soak, otherwise `short`. */
export function cases(full: number, short: number): number {
  return FULL ? full : short
}
