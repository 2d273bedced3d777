/** How long to soak: 1 is the full length. */
const FACTOR = Number(process.env.KLINES_SOAK ?? '1')
if (!(FACTOR > 0)) throw new Error(`KLINES_SOAK is ${process.env.KLINES_SOAK}. Expected a number above 0.`)

/** Scales a number of repetitions; returns at least 1. */
export function times(full: number): number {
  return Math.max(1, Math.round(full * FACTOR))
}
