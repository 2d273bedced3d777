import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KlineRow } from '../../../src/candles/columns.js'
import type { Market } from './market.js'

/** The candles of a tree of the static service; each series is read once. */
export function realMarket(root: string, symbols: readonly string[] = ['BTCUSDT', 'ADAUSDT', 'DOTUSDT']): Market {
  const series = new Map<string, readonly KlineRow[]>()
  const rows = (symbol: string, interval: string) => {
    const folder = join(root, 'api/klines', interval, symbol)
    const known = series.get(folder)
    if (known) return known
    const read = readSeries(folder)
    series.set(folder, read)
    return read
  }
  return { symbols: () => symbols, rows }
}

/** The rows of all windows of a folder; their names are dates, so they sort by time. */
function readSeries(folder: string): readonly KlineRow[] {
  const names = readFolder(folder).filter(name => name.endsWith('.json'))
  return names.sort().flatMap(name => JSON.parse(readFileSync(join(folder, name), 'utf8')) as KlineRow[])
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    // The exchange has intervals that the tree lacks.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
