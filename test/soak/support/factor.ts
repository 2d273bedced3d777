/** How long to soak: 1 for the full figures, less for a look. */
const FACTOR = Number(process.env.KLINES_SOAK ?? '1')
if (!(FACTOR > 0)) throw new Error(`KLINES_SOAK is ${process.env.KLINES_SOAK}. Expected a number above 0.`)

/** How often something is done of which the full figure is `full`: once at least. */
export function times(full: number): number {
  return Math.max(1, Math.round(full * FACTOR))
}

/** Some of the items, evenly spread: all of them at the full figures. */
export function share<T>(items: readonly T[]): T[] {
  const count = Math.min(items.length, times(items.length))
  return Array.from({ length: count }, (_, index) => items[Math.floor(((index + 0.5) * items.length) / count)])
}
