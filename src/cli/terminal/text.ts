import { type SeriesLabel, seriesName } from '../../candles/series.js'
import { formatTime } from '../../candles/text.js'
import type { ChangedCell } from '../../rows/diff.js'

/** `2024-01-01 12:00`, with seconds where there are any. */
export function exactTime(time: number): string {
  if (time % 60_000 === 0) return formatTime(time)
  return new Date(time).toISOString().replace('T', ' ').replace('Z', '')
}

/** `BTCUSDT 1h 2024-01-01 12:00` */
export function candleName(candle: SeriesLabel & { readonly openTime: number }): string {
  return `${seriesName(candle)} ${exactTime(candle.openTime)}`
}

/** Breaks lines that are longer than a terminal is wide, at words; what goes on is indented by two more. */
export function wrapLines(text: string, columns: number): string {
  return text.replace(/^( *)(.*)$/gm, (line, indent: string) => {
    const lines = []
    let rest = line
    for (;;) {
      const at = rest.length > columns ? rest.lastIndexOf(' ', columns) : -1
      if (at <= indent.length + 2) return [...lines, rest].join('\n')
      lines.push(rest.slice(0, at).trimEnd())
      rest = `${indent}  ${rest.slice(at).trimStart()}`
    }
  })
}

/** Untrusted text with `?` for every control and other invisible character: a cell may have any, and takes one line. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}

export function describeCell({ column, before, after }: Pick<ChangedCell, 'column' | 'before' | 'after'>): string {
  if (before === null || after === null) return before === null ? 'added' : 'withdrawn'
  return `${column} ${printable(before)} -> ${printable(after)}`
}
