import { createHash } from 'node:crypto'
import type { KlineRow } from '../../../src/candles/columns.js'

/** A fingerprint by its definition, row by row and on text. `rows` are those of a window file. */
export function fingerprintOf(symbol: string, interval: string, rows: readonly KlineRow[]): string {
  const years = new Map<string, string>()
  for (const row of rows) {
    const year = new Date(row[0]).toISOString().slice(0, -20)
    years.set(year, (years.get(year) ?? '') + candleLine(row))
  }
  const digests = [...years].map(([year, lines]) => `${year} ${sha256(lines)}\n`)
  return `klines:1:${sha256([`klines 1 ${symbol} ${interval}\n`, ...digests].join(''))}`
}

/** The canonical line of a candle. */
export function candleLine(row: KlineRow): string {
  const cells = row.slice(0, 11).map(cell => (typeof cell === 'number' ? String(BigInt(cell)) : stripped(cell)))
  return `${cells.join(',')}\n`
}

function stripped(decimal: string): string {
  const [whole, fraction = ''] = decimal.split('.')
  return [whole.replace(/^0*(?=.)/, ''), fraction.replace(/0*$/, '')].filter(part => part !== '').join('.')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
