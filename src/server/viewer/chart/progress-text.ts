import { plural } from '../../../klines/text.js'

/** `Loading SOLUSDT 4h, 1 of 3 windows` */
export function loadingText(name: string, done: number, total: number): string {
  return `Loading ${name}${total > 0 ? `, ${done} of ${plural(total, 'window')}` : ''}`
}

/** `45 s`, `12 min`, `3 h`: rounded up. */
export function formatWait(seconds: number): string {
  if (seconds <= 120) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes <= 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`
}
