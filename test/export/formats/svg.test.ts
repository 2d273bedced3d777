import { describe, expect, it } from 'vitest'
import type { ChartCandle, FittedCandles } from '../../../src/chart/chart-candle.js'
import { drawSvg } from '../../../src/chart/svg/draw-svg.js'
import { DEFAULT_PICTURE } from '../../../src/chart/svg/picture-options.js'
import type { KlineBatch } from '../../../src/klines/batch/kline-batch.js'
import { decodeWindow } from '../../../src/klines/batch/window-codec.js'
import type { KlineRow } from '../../../src/klines/columns.js'
import { Resampler } from '../../../src/klines/resample/resampler.js'
import { parseTargetInterval } from '../../../src/klines/resample/target-interval.js'
import { catchError } from '../../support/errors.js'
import { rowFormat, runExporter } from '../../support/exporting.js'
import { aggregateOracle } from '../../support/oracles/resample-oracle.js'
import { sampleRows } from '../../support/sample-tree.js'
import { LEAP_MONTH, sampleRow, toBatch, toJsonBytes } from '../../support/windows.js'

const DAY = 86_400_000
const picture = { ...DEFAULT_PICTURE, width: 400 }
/** Some 8,700 candles of the sample, in windows of a week: 91 days. */
const ROWS = sampleRows('BTCUSDT', '15m') as unknown as KlineRow[]
const FIRST = ROWS[0][0]
const LAST = ROWS[ROWS.length - 1][0]

function batchesOf(rows: readonly KlineRow[]): KlineBatch[] {
  const dates = [...new Set(rows.map(([openTime]) => weekOf(openTime)))]
  return dates.map(startDate => {
    const week = rows.filter(([openTime]) => weekOf(openTime) === startDate)
    return decodeWindow(toJsonBytes(week), { symbol: 'BTCUSDT', interval: '15m', startDate })
  })
}

/** The Monday of a time, as the name of its window. */
function weekOf(openTime: number): string {
  const monday = 4 * DAY
  return new Date(Math.floor((openTime - monday) / (7 * DAY)) * 7 * DAY + monday).toISOString().slice(0, 10)
}

/** The days of the sample, added up in BigInt, as a picture takes them. */
function daysByOracle(resampledFrom: string): FittedCandles {
  const slots = []
  for (let openTime = Math.floor(FIRST / DAY) * DAY; openTime <= LAST; openTime += DAY) {
    const rows = ROWS.filter(row => row[0] >= openTime && row[0] < openTime + DAY)
    const [, open, high, low, close, volume] = aggregateOracle(openTime, rows).map(String)
    const candle: ChartCandle = { openTime, open, high, low, close, volume }
    slots.push({ openTime, candle })
  }
  const series = { symbol: 'BTCUSDT', interval: resampledFrom }
  const counts = { candles: slots.length, missing: 0 }
  return { series, interval: '1d', resampledFrom, slots, ...counts, firstTime: FIRST, lastTime: LAST }
}

describe('the svg exporter', () => {
  it('adds up candles that do not fit into the picture exactly, and says so (BigInt oracle)', async () => {
    const { bytes } = await runExporter('svg', batchesOf(ROWS), rowFormat({ picture }))
    const expected = daysByOracle('15m')
    expect(expected.slots.length).toBeGreaterThan(80)
    expect(String(bytes)).toBe(drawSvg(expected, picture))
    expect(String(bytes)).toContain('15m resampled to 1d')
  })

  it('adds up candles that were resampled before', async () => {
    const resampler = new Resampler({ symbol: 'BTCUSDT', interval: '15m' }, parseTargetInterval('3h'), {
      partial: true,
    })
    const batches = [...batchesOf(ROWS).map(batch => resampler.add(batch)), resampler.end()].flatMap(
      batch => batch ?? [],
    )
    const { bytes } = await runExporter('svg', batches, rowFormat({ picture }))
    const lastTime = Math.floor(LAST / (3 * 3_600_000)) * 3 * 3_600_000
    expect(String(bytes)).toBe(drawSvg({ ...daysByOracle('3h'), lastTime }, picture))
  })

  it('writes nothing without a candle', async () => {
    expect((await runExporter('svg', [], rowFormat({ picture }))).bytes).toHaveLength(0)
  })

  it('refuses numbers that are too long to be added up', async () => {
    const rows = [sampleRow(LEAP_MONTH.span.startTime, { 5: '9'.repeat(400) })]
    const error = await catchError(runExporter('svg', [toBatch(rows, LEAP_MONTH)], rowFormat({ picture })))
    expect(error).toMatchObject({ code: 'digits_lost' })
  })
})
