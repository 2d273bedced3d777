import { createHash } from 'node:crypto'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { INTERVALS } from '../../src/candles/intervals.js'
import { windowPath } from '../../src/candles/paths.js'
import { type VerifyRequest, verifyKlines } from '../../src/verify/verify.js'
import { expectedSeries, hasRealTree, realTree } from '../support/oracles/real-tree.js'
import { SAMPLE_TREE } from '../support/sample-tree.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

describe.skipIf(!hasRealTree)('a real tree (skipped without ../shared/data)', () => {
  it('has the findings of an independent program, with 661,818 comparisons and one note', async () => {
    const expected = expectedSeries()
    const { series, pairs, differences } = await verifyKlines({
      ...{ symbols: Object.keys(expected), intervals: INTERVALS, mirror: realTree(), threads: 1 },
    })
    for (const { symbol, interval, candles, firstOpenTime, lastOpenTime, gaps, corrupt, ...found } of series) {
      const truth = expected[symbol][interval]
      const missing = gaps.reduce((sum, gap) => sum + gap.missing, 0)
      expect({
        ...{ symbol, interval, rows: candles, firstOpenTime, lastOpenTime, corrupt: corrupt.length },
        ...{ gaps: gaps.length, missing, earlyClose: found.counts.earlyClose },
        ...{ zeroTrades: found.counts.zeroTrades, others: found.offGrid.length + found.faults.length },
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
        note: 'The candle closes early; only its close time differs, by 1 ms.',
      },
    ])
    // 2023-03-24 13:00 is missing for all symbols.
    const outage = { startTime: Date.parse('2023-03-24T13:00Z'), missing: 1, outage: true }
    for (const { gaps } of series.filter(({ interval }) => interval === '1h')) expect(gaps).toMatchObject([outage])
  })
})

describe('verifyKlines', () => {
  /** The sample with only these intervals. */
  const copySample = (intervals: readonly string[] = ['1h', '1d']) => {
    const root = join(tempFolder(), 'm')
    cpSync(SAMPLE_TREE, root, { recursive: true })
    for (const interval of INTERVALS) {
      if (!intervals.includes(interval)) rmSync(join(root, 'api/klines', interval), { recursive: true, force: true })
    }
    return root
  }
  const verify = (root: string, intervals: VerifyRequest['intervals'], request: Partial<VerifyRequest> = {}) =>
    verifyKlines({ symbols: ['BTCUSDT'], intervals, mirror: root, now: NOW, ...request })
  const hourPath = (root: string, startDate: string) =>
    join(root, windowPath({ symbol: 'BTCUSDT', interval: '1h', startDate }))
  const HOUR = 3_600_000
  const NOW = Date.parse('2025-03-15')

  it('names a corrupt window and verifies the others', async () => {
    const root = copySample()
    const path = hourPath(root, '2025-02-01')
    writeFileSync(path, readFileSync(path).subarray(0, 1000))
    const { series, differences, verdict } = await verify(root, ['1h', '1d'])
    expect(series[0].corrupt).toMatchObject([{ startDate: '2025-02-01', reason: expect.stringContaining('JSON') }])
    expect(series[0].missingWindows).toEqual([])
    const inFebruary = series[0].gaps.filter(
      gap => gap.endTime > Date.parse('2025-02-01') && gap.startTime < Date.parse('2025-03-01'),
    )
    expect(inFebruary).toEqual([])
    expect([differences, verdict]).toEqual([[], 'failed'])
    expect(series[1].unverified).toBeGreaterThanOrEqual(28)
    // The day after the range is read for 1d alone.
    const before = await verify(root, ['1h', '1d'], { from: '2025-01-20', to: '2025-02-01' })
    expect([before.verdict, before.series.map(one => one.windows)]).toEqual(['ok', [1, 1]])
  })

  it('tells missing windows from gaps', async () => {
    const root = copySample()
    const [whole] = (await verify(root, ['1h', '1d'])).series
    expect([whole.missingWindows, whole.windows]).toEqual([[], 4])
    const february = JSON.parse(readFileSync(hourPath(root, '2025-02-01'), 'utf8'))
    rmSync(hourPath(root, '2025-02-01'))
    const { series, differences, verdict } = await verify(root, ['1h', '1d'])
    expect(series[0].missingWindows).toEqual(['2025-02-01'])
    expect([series[0].windows, series[0].candles]).toEqual([3, whole.candles - february.length])
    const inFebruary = (gap: { startTime: number }) =>
      gap.startTime >= Date.parse('2025-02-01') && gap.startTime < Date.parse('2025-03-01')
    expect(series[0].gaps).toEqual(whole.gaps.filter(gap => !inFebruary(gap)))
    expect([series[1].missingWindows, differences, verdict]).toEqual([[], [], 'incomplete'])
  })

  it('needs no window before the first cached one or after the last one, without a range', async () => {
    const root = copySample()
    rmSync(hourPath(root, '2024-12-01'))
    rmSync(hourPath(root, '2025-03-01'))
    expect((await verify(root, ['1h'])).series[0].missingWindows).toEqual([])
    rmSync(hourPath(root, '2025-02-01'))
    writeFileSync(hourPath(root, '2025-03-01'), '[]')
    expect((await verify(root, ['1h'])).series[0].missingWindows).toEqual(['2025-02-01'])
    const [ranged] = (await verify(root, ['1h'], { from: '2024-10-15', to: '2025-06-01' })).series
    expect(ranged.missingWindows).toEqual(['2024-10-01', '2024-11-01', '2024-12-01', '2025-02-01'])
  })

  it('uses the list of the mirror, with what it lacks, and else the built-in one', async () => {
    const root = copySample()
    rmSync(hourPath(root, '2025-02-01'))
    const list = join(root, 'api/klines/start-dates/1h.json')
    const dates: string[] = JSON.parse(readFileSync(list, 'utf8'))
    writeFileSync(list, JSON.stringify(dates.filter(date => date !== '2025-02-01')))
    const missing = async () => (await verify(root, ['1h'])).series[0].missingWindows
    expect(await missing()).toEqual(['2025-02-01'])
    rmSync(list)
    expect(await missing()).toEqual(['2025-02-01'])
  })

  it('inspects the candles of a range alone', async () => {
    const root = copySample()
    const path = hourPath(root, '2025-01-01')
    const rows = JSON.parse(readFileSync(path, 'utf8'))
    const at = (time: string) => rows.findIndex((row: number[]) => row[0] === Date.parse(time))
    // The volume of a candle before the range and of one after it.
    for (const time of ['2025-01-09T23:00Z', '2025-01-12T00:00Z']) rows[at(time)][5] = '0.1'
    // The first and the last hour of the range.
    for (const time of ['2025-01-10T00:00Z', '2025-01-11T23:00Z']) rows.splice(at(time), 1)
    writeFileSync(path, JSON.stringify(rows))
    const { series, pairs, range } = await verify(root, ['1h', '1d'], { from: '2025-01-10', to: '2025-01-12' })
    expect(series[0]).toMatchObject({
      ...{ candles: 46, windows: 1, missingWindows: [], faults: [], earlyClose: [], offGrid: [] },
      gaps: [
        { startTime: range.fromTime, endTime: range.fromTime + HOUR, missing: 1 },
        { startTime: range.toTime - HOUR, endTime: range.toTime, missing: 1 },
      ],
      coverage: { shortAtStart: 0, shortAtEnd: 0 },
    })
    expect([series[1].candles, pairs[0].comparisons]).toEqual([2, 2])
    const { differences } = await verify(root, ['1h', '1d'])
    const days = new Set(differences.map(({ openTime }) => new Date(openTime).toISOString().slice(0, 10)))
    expect(days).toEqual(new Set(['2025-01-09', '2025-01-10', '2025-01-11', '2025-01-12']))
  })

  it('compares with finer candles that are not named, and reports nothing else of them', async () => {
    const root = copySample()
    const path = hourPath(root, '2025-01-01')
    const rows = JSON.parse(readFileSync(path, 'utf8'))
    rows[30][8]++
    writeFileSync(path, JSON.stringify(rows))
    rmSync(hourPath(root, '2025-02-01'))
    const { series, differences, verdict } = await verify(root, ['1d'])
    expect(series.map(one => [one.interval, one.missingWindows, one.differing])).toEqual([['1d', [], 1]])
    expect(differences).toMatchObject([
      { interval: '1d', finer: '1h', openTime: Date.parse('2025-01-02'), column: 'count' },
    ])
    expect(verdict).toBe('failed')
  })

  it('names a file that is not as the index says, and what it lacks of it', async () => {
    const root = copySample()
    const startDate = '2025-03-01'
    const bytes = readFileSync(hourPath(root, startDate))
    const rows: [number][] = JSON.parse(bytes.toString())
    const [[first], [last]] = [rows[0], rows[rows.length - 1]]
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const entry = { size: bytes.length, sha256, rendered: NOW, asked: NOW, first, last }
    putFile(root, '.klines/1h/BTCUSDT.json', { [startDate]: entry })
    expect((await verify(root, ['1h'])).verdict).toBe('ok')
    /** Verifies other content of the window; returns its gaps. */
    const expectCorrupt = async (content: string, lacks: string) => {
      writeFileSync(hourPath(root, startDate), content)
      const { series, differences, verdict } = await verify(root, ['1h'])
      const reason = `not as it was downloaded${lacks}; klines download --refresh replaces it`
      expect([verdict, series[0].corrupt, differences]).toEqual(['failed', [{ startDate, reason }], []])
      return series[0].gaps
    }
    const lacks = (time: number) => `: it lacks the candle of ${new Date(time).toISOString()}, which the mirror has had`
    const gaps = await expectCorrupt(JSON.stringify(rows.slice(0, -2)), lacks(last))
    expect(gaps.at(-1)).toMatchObject({ startTime: last - HOUR, endTime: last + HOUR, missing: 2 })
    await expectCorrupt(JSON.stringify(rows.slice(1)), lacks(first))
    const digit = bytes.toString().replace(/\d(?=",\d+,")/, digit => `${9 - Number(digit)}`)
    expect(digit).toHaveLength(bytes.length)
    await expectCorrupt(digit, '')
    rmSync(hourPath(root, startDate))
    expect((await verify(root, ['1h'])).series[0].missingWindows).toEqual([startDate])
  })
})
