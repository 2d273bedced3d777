import { isObject, parseObject } from '../candles/json.js'
import { intervalSegment } from '../candles/paths.js'
import type { Series } from '../candles/series.js'
import { isStartDate } from '../candles/windows.js'
import type { WindowFacts } from './window-state.js'

/** What is known of the windows of a series, by startDate. */
export type SeriesIndex = ReadonlyMap<string, WindowFacts>

/** The file of the index of a series, relative to the root of a mirror: outside of `api`, so that no web host serves it. */
export function indexPath({ symbol, interval }: Series): string {
  return `.klines/${intervalSegment(interval)}/${symbol}.json`
}

/** The text of an index: a line for each window, in order of time. */
export function formatIndex(index: SeriesIndex): string {
  const lines = [...index]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([date, facts]) => `"${date}":${JSON.stringify(facts)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}

/** Parses an index. Entries of another form are left out; undefined for what is no index at all. */
export function parseIndex(text: string, { interval }: Series): Map<string, WindowFacts> | undefined {
  const value = parseObject(text)
  const entries = Object.entries(value ?? {}).flatMap(([date, entry]) => {
    const facts = isStartDate(interval, date) ? parseFacts(entry) : undefined
    return facts ? [[date, facts] as const] : []
  })
  return value && new Map(entries)
}

function parseFacts(entry: unknown): WindowFacts | undefined {
  if (!isObject(entry)) return undefined
  const { size, sha256, rendered, asked, first, last } = entry
  const numbers = [size, asked, ...[rendered, first, last].filter(time => time !== undefined)]
  const isValid = typeof sha256 === 'string' && numbers.every(Number.isSafeInteger)
  return isValid ? ({ size, sha256, rendered, asked, first, last } as WindowFacts) : undefined
}

/** The least rendered time of later windows with candles, ms UTC: since then at the latest the service has had more than this one. */
export function laterSince(index: SeriesIndex, startDate: string): number | undefined {
  const later = [...index].filter(([date, { last }]) => date > startDate && last !== undefined)
  const times = later.flatMap(([, { rendered }]) => rendered ?? [])
  return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b))
}
