import { type SeriesLabel, seriesName } from '../../candles/series.js'
import { cutToColumns, formatCount, formatTime, plural, textColumns } from '../../candles/text.js'
import type { ChangedCell } from '../../rows/diff.js'

/** Lines of reports are not longer, where their words allow it. */
const MAX_WIDTH = 80

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

/** `2024-01-01 12:00`, with seconds where there are any. */
export function exactTime(time: number): string {
  if (time % 60_000 === 0) return formatTime(time)
  return new Date(time).toISOString().replace('T', ' ').replace('Z', '')
}

/** `BTCUSDT 1h 2024-01-01 12:00`, and with seconds for a candle that opens within a minute. */
export function candleName(candle: SeriesLabel & { readonly openTime: number }): string {
  return `${seriesName(candle)} ${exactTime(candle.openTime)}`
}

/**
 * Joins parts with blanks to lines of at most 80 characters; a part that is longer stays whole. `start`: what the first line begins
 * with, `next`: all others.
 */
export function wrap(parts: readonly string[], start = '', next = '    '): string[] {
  const lines: string[] = []
  let [line, isEmpty] = [start, true]
  for (const part of parts) {
    if (!isEmpty && line.length + 1 + part.length > MAX_WIDTH) {
      lines.push(line)
      line = next + part
    } else line += isEmpty ? part : ` ${part}`
    isEmpty = false
  }
  return [...lines, line]
}

/** The first lines, and how many more there are. */
export function firstLines(lines: readonly string[], most: number): string[] {
  const more = lines.length - most
  return [...lines.slice(0, most), ...(more > 0 ? [`and ${formatCount(more)} more`] : [])]
}

/** A text in at most so many columns of a terminal; a mark stands for what is cut. */
export function cutText(text: string, columns: number): string {
  return textColumns(text) > columns ? `${cutToColumns(text, columns - 1)}…` : text
}

/** Untrusted text made safe for a terminal: `?` for every control and other invisible character, line ends included. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}

/** `close 12345.00000000 -> 68200.00000000`; of a candle that was added or withdrawn that it was. */
export function describeCell({ column, before, after }: Pick<ChangedCell, 'column' | 'before' | 'after'>): string {
  if (before === null || after === null) return before === null ? 'added' : 'withdrawn'
  return `${column} ${printable(before)} -> ${printable(after)}`
}
