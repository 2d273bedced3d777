import { plural } from '../../klines/text.js'

/** `0.4 s`, `42 s`, `3 min 20 s`, `5 h 12 min`, `3 days`, rounded down. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  if (minutes === 0) return `${seconds} s`
  if (hours === 0) return `${minutes} min ${seconds % 60} s`
  return hours < 48 ? `${hours} h ${minutes % 60} min` : plural(Math.floor(hours / 24), 'day')
}

/** `0:42`, `12:05`, `1:02:03`, rounded up. */
export function formatClock(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const pad = (count: number) => String(count).padStart(2, '0')
  const end = pad(seconds % 60)
  return hours === 0 ? `${minutes}:${end}` : `${hours}:${pad(minutes)}:${end}`
}

/** Untrusted text made safe for a terminal: `?` for every control and other invisible character, line ends included. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}
