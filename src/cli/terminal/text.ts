/** `1,234,567` */
export function formatCount(count: number): string {
  // toLocaleString takes 7 ms to load the rules of all languages.
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 window`, `2 windows`, `2 series` */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 || noun.endsWith('s') ? '' : 's'}`
}

/** `17.3 MB`, in powers of ten. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let [value, unit] = [bytes / 1000, 0]
  // A value that would be rounded to 1000.0 belongs to the next unit.
  for (; value >= 999.95 && unit < units.length - 1; unit++) value /= 1000
  return `${value.toFixed(1)} ${units[unit]}`
}

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

/** `2024-01-31 12:00`, UTC; `-` when there is none. */
export function formatTime(time: number | undefined): string {
  return time === undefined ? '-' : new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

/** Untrusted text made safe for a terminal: `?` for every control and other invisible character, line ends included. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}
