import { expect, it } from 'vitest'
import { windowPath } from '../../src/candles/paths.js'
import { statsKlines } from '../../src/verify/stats.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { sampleRow } from '../support/windows.js'

it('stats are exact: first and last price, lowest and highest one, sums, and gaps', async () => {
  const [mirror, start, HOUR] = [tempFolder(), Date.parse('2024-02-01'), 3_600_000]
  const rows = [0, 1, 5, 7].map((hour, index) => {
    const prices = { 1: `${10 + index}.5`, 2: `${30 - index}.000000001`, 3: `${5 + index}`, 4: `${20 + index}` }
    const sums = { 5: '0.00000001', 7: '12345678901234567890.1', 8: index + 1, 9: '0.000000001', 10: '2.5' }
    return sampleRow(start + hour * HOUR, { 6: start + (hour + 1) * HOUR - 1, ...prices, ...sums })
  })
  const series = { symbol: 'BTCUSDT', interval: '1h' } as const
  putFile(mirror, windowPath({ ...series, startDate: '2024-02-01' }), rows)
  const found = await statsKlines({ symbols: 'all', intervals: 'all', mirror, now: start + 8 * HOUR })
  const ends = { candles: 4, firstOpenTime: start, lastOpenTime: start + 7 * HOUR, firstPrice: '10.5', lastPrice: '23' }
  const sums = { volume: '0.00000004', quoteVolume: '49382715604938271560.4', trades: 10 }
  const takers = { takerBuyVolume: '0.000000004', takerBuyQuoteVolume: '10.0' }
  const gaps = { gaps: 2, missing: 4, largestGap: 3, coverage: found.series[0].coverage }
  expect(found.series).toEqual([
    { ...series, ...ends, lowest: '5', highest: '30.000000001', ...sums, ...takers, ...gaps },
  ])
})

it('an interruption ends stats while windows are read', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const run = statsKlines({ symbols: 'all', intervals: 'all', mirror: SAMPLE_TREE, signal })
  setImmediate(() => controller.abort(new Error('enough')))
  await expect(run).rejects.toThrow('enough')
})
