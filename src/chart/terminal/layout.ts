import { trimDecimal } from '../../rows/decimals.js'
import type { FittedCandles } from '../chart-candle.js'
import type { PriceScale, PriceTick } from '../price-scale.js'
import { buildPriceScale, type ChartSummary, formatVolume, maxVolume, summarize } from '../summary.js'

/** Narrower and lower than this a chart cannot be read: it is drawn in this size instead. */
export const MIN_WIDTH = 40
export const MIN_HEIGHT = 12
/** A higher chart shows no more. */
export const MAX_HEIGHT = 30

/** A column of blanks on either side of the axis. */
const AXIS_COLUMNS = 3
/** Room for most prices, so that candles can be counted before they are known: `0.00001234`, `126199.63`, `44.9K vol`. */
const LABEL_COLUMNS = 10
/** Below the candles: the axis and its labels. */
const AXIS_ROWS = 2
const BLANK_ROWS = 1
const VOLUME_ROWS = 3
const MIN_PRICE_ROWS = 4
/** Rows from one tick to the next, at the least. */
const ROWS_PER_TICK = 3
const MAX_CANDLE_COLUMNS = 3
/** Of a chart of 30 rows. */
const MAX_TICKS = 10

/** The columns and rows of a chart. */
export interface Layout {
  readonly scale: PriceScale
  readonly ticks: readonly PriceTick[]
  readonly lastText: string
  readonly volumeText: string
  /** Columns from one candle to the next, 1 to 3. */
  readonly candleColumns: number
  readonly plotColumns: number
  readonly labelColumns: number
  readonly priceRows: number
  readonly volumeRows: number
}

/** The number of candles that fit into a terminal, before their prices are known. */
export function candlesThatFit(width: number): number {
  return Math.max(MIN_WIDTH, width) - AXIS_COLUMNS - LABEL_COLUMNS
}

/** The number that fits beside the labels of these candles: fewer than `candlesThatFit` where prices are long. */
export function candlesBesideLabels(fitted: FittedCandles, { width, log }: { width: number; log: boolean }): number {
  const summary = summarize(fitted)
  if (summary === undefined) return candlesThatFit(width)
  const scale = buildPriceScale(summary, log)
  const ticks = Array.from({ length: MAX_TICKS - 1 }, (_, index) => scale.ticks(index + 2)).flat()
  const texts = [trimDecimal(summary.last.close), ...ticks.map(({ text }) => text)]
  const widest = Math.max(LABEL_COLUMNS, ...texts.map(text => text.length))
  return Math.max(1, Math.max(MIN_WIDTH, width) - AXIS_COLUMNS - widest)
}

/** `titleRows`: the number of lines above the chart. */
export function layOut(
  { slots }: FittedCandles,
  summary: ChartSummary,
  { width, height, log, titleRows }: { width: number; height: number; log: boolean; titleRows: number },
): Layout {
  const room = Math.max(MIN_HEIGHT, height) - titleRows - BLANK_ROWS - AXIS_ROWS
  const volumeRows = room - VOLUME_ROWS < 2 * MIN_PRICE_ROWS ? 1 : VOLUME_ROWS
  const priceRows = Math.max(MIN_PRICE_ROWS, room - volumeRows)
  const scale = buildPriceScale(summary, log)
  const ticks = scale.ticks(Math.max(2, Math.floor(priceRows / ROWS_PER_TICK)))
  const lastText = trimDecimal(summary.last.close)
  const volumeText = `${formatVolume(maxVolume(slots))} vol`
  // Labels that are longer than the room between the candles and the edge are cut.
  const widest = Math.max(...[lastText, volumeText, ...ticks.map(({ text }) => text)].map(text => text.length))
  const labelColumns = Math.min(widest, width - AXIS_COLUMNS - slots.length)
  const free = width - AXIS_COLUMNS - labelColumns
  const candleColumns = Math.min(MAX_CANDLE_COLUMNS, Math.max(1, Math.floor(free / slots.length)))
  const plotColumns = candleColumns * slots.length
  return {
    scale,
    ticks,
    lastText,
    volumeText,
    candleColumns,
    plotColumns,
    labelColumns,
    priceRows,
    volumeRows,
  }
}
