import { expect, it } from 'vitest'
import { EXCHANGE_INTERVALS } from '../../src/candles/intervals.js'
import { windowPath } from '../../src/candles/paths.js'
import { startDateAt } from '../../src/candles/windows.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { Kernel } from '../../src/rows/wasm/kernel.js'
import { SymbolVerifier } from '../../src/verify/verify-symbol.js'
import { makeRows } from '../support/exchange/made-rows.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const START = Date.parse('2024-01-01')

it('verifying any number of symbols takes the memory of one', async () => {
  const root = tempFolder()
  const kernel = new Kernel()
  const range = { fromTime: -Infinity, toTime: Infinity }
  const verifier = new SymbolVerifier(new Mirror(root), { range, readTo: Infinity }, kernel)
  const verify = async (symbol: string) => {
    const windows = EXCHANGE_INTERVALS.map(interval => ({ symbol, interval, startDate: startDateAt(interval, START) }))
    for (const window of windows) {
      const rows = makeRows(symbol, window.interval, START, START + 3_600_000, [], 60_000)
      putFile(root, windowPath(window), rows)
    }
    const tasks = windows.map(window => ({ series: window, isNamed: true, windows: [window] }))
    const { pairs } = await verifier.verify(tasks)
    return pairs.reduce((sum, { comparisons }) => sum + comparisons, 0)
  }
  const comparisons = await verify('S0USDT')
  expect(comparisons).toBeGreaterThan(0)
  const { byteLength } = kernel.view
  // A table for each pair of intervals takes 1.1 MB.
  for (let symbol = 1; symbol <= 8; symbol++) expect(await verify(`S${symbol}USDT`)).toBe(comparisons)
  expect(kernel.view.byteLength).toBe(byteLength)
})
