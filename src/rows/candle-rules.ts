import { COLUMNS, type Column } from '../candles/columns.js'
import type { CandleTable } from './candle-table.js'

/** What the values of a candle cannot be at once, as `findFaults` of the kernel counts it. `$name` stands for a value. */
const FAULTS = [
  'low $low is above open $open',
  'low $low is above close $close',
  'open $open is above high $high',
  'close $close is above high $high',
  'taker_buy_volume $taker_buy_volume is above volume $volume',
  'taker_buy_quote_volume $taker_buy_quote_volume is above quote_volume $quote_volume',
  'quote_volume $quote_volume is above high $high x volume $volume',
  'quote_volume $quote_volume is below low $low x volume $volume',
  'quote_volume $quote_volume is traded at low $low x volume $volume',
  'taker_buy_quote_volume $taker_buy_quote_volume is above high $high x taker_buy_volume $taker_buy_volume',
  'taker_buy_quote_volume $taker_buy_quote_volume is below low $low x taker_buy_volume $taker_buy_volume',
  'taker_buy_quote_volume $taker_buy_quote_volume is traded at low $low x taker_buy_volume $taker_buy_volume',
  'count is 0, but high $high is above low $low',
  'count is 0, but volume is $volume',
  'count is 0, but quote_volume is $quote_volume',
]

/** The faults of a candle, each described with its values; empty for a good one. */
export function findCandleFaults(table: CandleTable, row: number): string[] {
  const found = table.kernel.calls.findFaults(table.address(row))
  const value = (_: string, name: string) => table.text(row, COLUMNS.indexOf(name as Column))
  return FAULTS.filter((_, bit) => (found >>> bit) & 1).map(text => text.replace(/\$(\w+)/g, value))
}
