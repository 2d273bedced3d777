/** `1,234,567` */
export function formatCount(count: number): string {
  // toLocaleString takes 7 ms to load the rules of all languages.
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

/** `1 window`, `2 windows`, `2 series` */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 || noun.endsWith('s') ? '' : 's'}`
}

/** `0.4 s`, `42 s`, `3 min 20 s`, `5 h`, `5 h 12 min`, `3 days`, rounded down. */
export function formatDuration(ms: number): string {
  if (ms < 10_000) return `${(Math.floor(Math.max(0, ms) / 100) / 10).toFixed(1)} s`
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  if (hours >= 48) return plural(Math.floor(hours / 24), 'day')
  const parts = hours > 0 ? { h: hours, min: minutes % 60 } : { min: minutes, s: seconds % 60 }
  const shown = Object.entries(parts).filter(([, count]) => count > 0)
  return shown.map(([unit, count]) => `${count} ${unit}`).join(' ')
}

/** A sentence as part of a longer one: without a period at its end. */
export function trimPeriod(text: string): string {
  return text.replace(/\.$/, '')
}

/** Names that may be joined by commas. An empty part, as behind a last comma, is none. */
export function splitNames(texts: readonly string[]): string[] {
  return texts.flatMap(text => text.split(',')).flatMap(text => text.trim() || [])
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

/** Letters that take two columns of a terminal. */
const WIDE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\uff01-\uff60]/u

/** The columns of a terminal that a character takes: none for a mark on the letter before it. */
export function characterColumns(character: string): number {
  if (character <= '~') return 1
  return /\p{M}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1
}

export function textColumns(text: string): number {
  let columns = 0
  for (const character of text) columns += characterColumns(character)
  return columns
}

/** The start of a text that fits into so many columns of a terminal. */
export function cutToColumns(text: string, columns: number): string {
  let [free, cut] = [columns, '']
  for (const character of text) {
    free -= characterColumns(character)
    if (free < 0) break
    cut += character
  }
  return cut
}

/** Controls, format characters such as bidirectional marks, line and paragraph separators. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** Quotes untrusted text for a message: as JSON, with every character escaped that a terminal could interpret. */
export function quoteText(text: string): string {
  return JSON.stringify(text).replace(INVISIBLE, escapeUnits)
}

/** A text as part of HTML or XML, also of an attribute. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

const SHOWN_CHARACTERS = 40

/** A value of foreign JSON for a message: its JSON, shortened and safe for a terminal. Nested values are only named. */
export function showValue(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return String(value)
  return quoteText(value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}...` : value)
}

/** Escapes what a terminal could interpret but line feeds and tabs. JSON stays the same JSON. */
export function escapeControls(lines: string): string {
  return lines.replace(INVISIBLE, character => (/[\n\t]/.test(character) ? character : escapeUnits(character)))
}

function escapeUnits(character: string): string {
  return character.replace(/[\s\S]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A word of a command that people copy: quoted if a POSIX shell would interpret it. */
export function quoteWord(word: string): string {
  return /^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

export function firstLines(lines: readonly string[], most: number, more = 'more'): string[] {
  const left = lines.length - most
  return left > 0 ? [...lines.slice(0, most), `and ${formatCount(left)} ${more}`] : [...lines]
}
