import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { INTERVALS } from '../../src/klines/intervals.js'
import { windowPath } from '../../src/klines/paths.js'
import { Resampler } from '../../src/klines/resample/resampler.js'
import { isMultiple, parseTargetInterval } from '../../src/klines/resample/target-interval.js'
import type { Series } from '../../src/klines/series.js'
import { parseDate } from '../../src/klines/windows.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { verifyKlines } from '../../src/verify/verify.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const listSeries = (symbols: readonly string[], intervals: readonly string[] = INTERVALS) =>
  symbols.flatMap(symbol => intervals.map(interval => ({ symbol, interval }) as Series))

describe.skipIf(!hasRealTree)('a real tree (skipped without ../shared/data)', () => {
  it('has the findings of an independent program, with 661,818 comparisons and the one known difference', async () => {
    const expected = expectedSeries()
    const { series, pairs, differences } = await verifyKlines(new Mirror(realTree()), listSeries(Object.keys(expected)))
    for (const { symbol, interval, candles, firstOpenTime, lastOpenTime, gaps, anomalies, corrupt } of series) {
      const truth = expected[symbol][interval]
      const count = (kind: string) => anomalies.filter(anomaly => anomaly.kind === kind).length
      const missing = gaps.reduce((sum, gap) => sum + gap.missing, 0)
      expect({
        ...{ symbol, interval, rows: candles, firstOpenTime, lastOpenTime, corrupt: corrupt.length },
        ...{ gaps: gaps.length, missing, earlyClose: count('early_close'), zeroTrades: count('zero_trades') },
        others: anomalies.length - count('early_close') - count('zero_trades'),
      }).toEqual({
        ...{ symbol, interval, rows: truth.rows, corrupt: 0, others: 0 },
        ...{ firstOpenTime: truth.firstOpenTime, lastOpenTime: truth.lastOpenTime },
        ...{ gaps: truth.gaps, missing: truth.missing, earlyClose: truth.earlyClose, zeroTrades: truth.zeroTrades },
      })
    }
    expect(series).toHaveLength(36)
    expect(pairs).toHaveLength(3 * 60)
    expect(pairs.reduce((sum, { comparisons }) => sum + comparisons, 0)).toBe(661_818)
    expect(differences).toEqual([
      {
        symbol: 'BTCUSDT',
        interval: '6h',
        finer: '2h',
        openTime: Date.parse('2017-09-06T12:00:00Z'),
        column: 'close_time',
        value: '1504713600000',
        expected: '1504713599999',
        note: 'known: the exchange has it so',
      },
    ])
    // 2023-03-24 13:00 is missing for all symbols.
    const outage = { startTime: Date.parse('2023-03-24T13:00Z'), missing: 1, outage: true }
    for (const { gaps } of series.filter(({ interval }) => interval === '1h')) expect(gaps).toMatchObject([outage])
  })

  it('resamples, for every pair of intervals, to the same bytes as the coarser series', () => {
    const mirror = new Mirror(realTree())
    const readBatches = (series: Series) =>
      mirror.cachedStartDates(series).flatMap(startDate => {
        const window = mirror.readWindow({ ...series, startDate })
        return window.state === 'cached' && window.batch.length > 0 ? [window.batch] : []
      })
    // Each series is the source of several others.
    const loaded = new Map<string, ReturnType<typeof readBatches>>()
    const loadBatches = (series: Series) => {
      const name = `${series.symbol} ${series.interval}`
      const batches = loaded.get(name) ?? readBatches(series)
      loaded.set(name, batches)
      return batches
    }
    const toTexts = (batches: ReturnType<typeof readBatches>) =>
      batches.flatMap(batch => Array.from({ length: batch.length }, (_, row) => JSON.stringify(batch.row(row))))
    const different: string[] = []
    let compared = 0
    for (const { symbol, interval } of listSeries(['DOTUSDT', 'BTCUSDT', 'ADAUSDT'])) {
      const expected = new Set(toTexts(loadBatches({ symbol, interval })))
      for (const finer of INTERVALS.filter(other => isMultiple(parseTargetInterval(interval), other))) {
        const source = { symbol, interval: finer }
        const coveredFrom = parseDate(mirror.cachedStartDates(source)[0])
        const resampler = new Resampler(source, parseTargetInterval(interval), { coveredFrom })
        const resampled = toTexts(
          [...loadBatches(source).map(batch => resampler.add(batch)), resampler.end()].flatMap(batch => batch ?? []),
        )
        compared += resampled.length
        different.push(
          ...resampled
            .filter(row => !expected.has(row))
            .map(row => `${symbol} ${finer} ${interval} ${row.slice(1, 14)}`),
        )
      }
    }
    expect(different).toEqual([`BTCUSDT 2h 6h ${Date.parse('2017-09-06T12:00:00Z')}`])
    expect(compared).toBe(661_818)
  })
})

describe('verifyKlines', () => {
  const copySample = () => {
    const root = join(tempFolder(), 'm')
    cpSync(SAMPLE_TREE, root, { recursive: true })
    return root
  }
  const verify = (root: string, intervals: readonly string[]) =>
    verifyKlines(new Mirror(root), listSeries(['BTCUSDT'], intervals))

  it('names a corrupt window and verifies the others', async () => {
    const root = copySample()
    const path = join(root, windowPath({ symbol: 'BTCUSDT', interval: '1h', startDate: '2025-02-01' }))
    writeFileSync(path, readFileSync(path).subarray(0, 1000))
    const { series, differences } = await verify(root, ['1h', '1d'])
    expect(series[0].corrupt).toMatchObject([{ startDate: '2025-02-01', reason: expect.stringContaining('JSON') }])
    expect(differences).toEqual([])
    expect(series[1].unverified).toBeGreaterThanOrEqual(28)
  })

  it('finds a changed digit in a window that a finer series covers', async () => {
    const root = copySample()
    const path = join(root, windowPath({ symbol: 'BTCUSDT', interval: '4h', startDate: '2025-01-01' }))
    const rows = JSON.parse(readFileSync(path, 'utf8'))
    rows[10][5] = rows[10][5].replace(/\d$/, (digit: string) => String((Number(digit) + 1) % 10))
    writeFileSync(path, JSON.stringify(rows))
    const { differences } = await verify(root, ['1h', '4h'])
    expect(differences).toMatchObject([{ interval: '4h', finer: '1h', openTime: rows[10][0], column: 'volume' }])
  })

  it('compares nothing without audit, and can be aborted', async () => {
    const root = copySample()
    const report = await verifyKlines(new Mirror(root), listSeries(['BTCUSDT'], ['1h', '4h']), { audit: false })
    expect([report.pairs, report.series[0].unverified]).toEqual([[], undefined])
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(verifyKlines(new Mirror(root), listSeries(['BTCUSDT']), { signal })).rejects.toThrow('enough')
  })

  it('reports no candles for a series that is not cached', async () => {
    const root = copySample()
    rmSync(dirname(join(root, windowPath({ symbol: 'BTCUSDT', interval: '1d', startDate: '2024-01-01' }))), {
      recursive: true,
    })
    const { series, pairs } = await verify(root, ['1h', '1d'])
    expect([series[1].candles, series[1].windows, pairs[0].comparisons]).toEqual([0, 0, 0])
  })
})
