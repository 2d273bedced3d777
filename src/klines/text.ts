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

/** `2024-01-31 12:00`, UTC; `-` when there is none. */
export function formatTime(time: number | undefined): string {
  return time === undefined ? '-' : new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}
