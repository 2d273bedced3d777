import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { INTERVALS } from '../../src/candles/intervals.js'

/** The symbols that have candles in the slice, in the order of its `symbols.json`, which lists ten. */
export const SYMBOLS = ['BTCUSDT', 'ADAUSDT', 'DOTUSDT'] as const

/** A series' window files, oldest first. */
export interface SeriesFiles {
  readonly symbol: string
  readonly interval: string
  /** Absolute paths. */
  readonly files: readonly string[]
}

/**
 * The window files of the slice, in the order in which klines exports them. Windows without a candle (future ones and those
 * before a listing) are left out unless `empty`, which spares the peers some work.
 */
export function seriesFiles(
  slice: string,
  intervals: readonly string[] = INTERVALS,
  { empty = false } = {},
): SeriesFiles[] {
  return SYMBOLS.flatMap(symbol =>
    intervals.map(interval => {
      const folder = `${slice}/api/klines/${interval}/${symbol}`
      const files = readdirSync(folder).sort()
      const paths = files.map(name => `${folder}/${name}`)
      return { symbol, interval, files: empty ? paths : paths.filter(path => statSync(path).size > 2) }
    }),
  )
}

/** Writes the list that peers read; returns its path. */
export function writeList(path: string, series: readonly SeriesFiles[]): string {
  writeFileSync(path, JSON.stringify(series))
  return path
}

/**
 * The paths of every window on the service's list of start dates for the three symbols, `/api/klines/...`. The slice has all
 * of them, future ones as `[]`, so none is answered with 404.
 */
export function listedPaths(slice: string, interval: string): string[] {
  const dates: string[] = JSON.parse(readFileSync(`${slice}/api/klines/start-dates/${interval}.json`, 'utf8'))
  return SYMBOLS.flatMap(symbol => dates.map(date => `/api/klines/${interval}/${symbol}/${date}.json`))
}
