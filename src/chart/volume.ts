import type { Slot } from './chart-candle.js'

const UNITS = ['', 'K', 'M', 'B', 'T']

/** The highest volume, which fills all rows; 0 when nothing was traded. */
export function maxVolume(slots: readonly Slot[]): number {
  return slots.reduce((max, { candle }) => Math.max(max, candle ? Number(candle.volume) : 0), 0)
}

/** `44.9K`: three digits and a unit, without zeros at the end. */
export function formatVolume(volume: number): string {
  if (volume === 0) return '0'
  let [value, unit] = [volume, 0]
  // A value that would be rounded to 1000 belongs to the next unit.
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1000
  return `${Number(value.toPrecision(3))}${UNITS[unit]}`
}
