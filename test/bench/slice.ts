import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { INTERVALS } from '../../src/candles/intervals.js'
import { realTree } from '../support/oracles/real-tree.js'

/** The symbols that have candles in the real slice, in the order of its `symbols.json`, which lists ten. */
export const SYMBOLS = ['BTCUSDT', 'ADAUSDT', 'DOTUSDT']

/** A file or folder in the temporary folder of the run. */
export function path(name: string): string {
  return join(tmpdir(), name)
}

/** The same; what an earlier run left there is removed. */
export function fresh(name: string): string {
  rmSync(path(name), { recursive: true, force: true })
  return path(name)
}

/**
 * The window files of the slice as absolute paths by series, in the order in which klines exports them. Those without a candle, which lie
 * in the future or before a listing, are left out unless `empty`.
 */
export function seriesFiles(intervals: readonly string[] = INTERVALS, { empty = false } = {}) {
  return SYMBOLS.flatMap(symbol =>
    intervals.map(interval => {
      const folder = join(realTree(), 'api/klines', interval, symbol)
      const files = readdirSync(folder).sort()
      const paths = files.map(name => join(folder, name))
      return { symbol, interval, files: empty ? paths : paths.filter(file => statSync(file).size > 2) }
    }),
  )
}

/** Writes the list of series and files that peers read; returns its path. */
export function writeList(name: string, series: readonly { files: readonly string[] }[]): string {
  writeFileSync(path(name), JSON.stringify(series))
  return path(name)
}
