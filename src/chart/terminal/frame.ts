import { textColumns } from '../../candles/text.js'
import type { ChartCandle, FittedCandles } from '../candle-fitter.js'
import { isRising, summarize } from '../summary.js'
import { timeLabels } from '../time-axis.js'
import { CellLine, candleGlyph, type GlyphStyle, type Ink, marksFor, volumeGlyph } from './cells.js'

/** A smaller chart cannot be read: it is drawn in this size instead. */
export const MIN_WIDTH = 40
const MIN_HEIGHT = 12
/** A higher chart shows no more. */
export const MAX_HEIGHT = 30

/** A column of blanks on either side of the axis. */
const AXIS_COLUMNS = 3
/** Room for most prices: `0.00001234`, `126199.63`. */
const LABEL_COLUMNS = 10
/** A blank row above the candles; the axis and its labels below them. */
const OTHER_ROWS = 3
const VOLUME_ROWS = 3
const MIN_PRICE_ROWS = 4
/** From one tick to the next, at the least. */
const ROWS_PER_TICK = 3
/** Columns from one candle to the next. */
const MAX_PITCH = 6
/** Of a chart of 30 rows. */
const MAX_TICKS = 10
/** Blanks between labels of the time axis. */
const LABEL_GAP = 2

export interface FrameOptions extends GlyphStyle {
  /** In columns and rows. */
  readonly width: number
  readonly height: number
  readonly log: boolean
}

/** Before their prices are known. */
export function candlesThatFit(width: number): number {
  return Math.max(MIN_WIDTH, width) - AXIS_COLUMNS - LABEL_COLUMNS
}

/** Fewer than `candlesThatFit` where prices are long. */
export function candlesBesideLabels(fitted: FittedCandles, { width, log }: { width: number; log: boolean }): number {
  const summary = summarize(fitted, log)
  if (summary === undefined) return candlesThatFit(width)
  const ticks = Array.from({ length: MAX_TICKS - 1 }, (_, index) => summary.scale.ticks(index + 2)).flat()
  const widest = Math.max(LABEL_COLUMNS, summary.lastText.length, ...ticks.map(({ text }) => text.length))
  return Math.max(1, Math.max(MIN_WIDTH, width) - AXIS_COLUMNS - widest)
}

/** A chart as lines of text: title, candles and price axis, volume, time axis. No line without candles. */
export function drawFrame(fitted: FittedCandles, options: FrameOptions): string[] {
  const { slots } = fitted
  const summary = summarize(fitted, options.log)
  if (summary === undefined) return []
  const { title, change, scale, last, lastText, volumeText, maxVolume } = summary
  const marks = marksFor(options)
  const width = Math.max(MIN_WIDTH, options.width)
  const changeInk = change?.startsWith('-') ? 'falling' : 'rising'
  const head = [
    ...wrap([[title.name, 'strong'], [title.range], [title.resampled], [change, changeInk]], width),
    ...wrap([[title.prices]], width),
  ]
  const room = Math.max(MIN_HEIGHT, options.height) - head.length - OTHER_ROWS
  const wanted = room - VOLUME_ROWS < 2 * MIN_PRICE_ROWS ? 1 : VOLUME_ROWS
  // Prices alone, and candles without a trade, have none.
  const volumeRows = maxVolume === 0 ? 0 : wanted
  const priceRows = Math.max(MIN_PRICE_ROWS, room - volumeRows)
  const ticks = scale.ticks(Math.max(2, Math.floor(priceRows / ROWS_PER_TICK)))
  const labelColumns = Math.max(lastText.length, volumeText.length, ...ticks.map(({ text }) => text.length))
  const free = (width - AXIS_COLUMNS - labelColumns) / slots.length
  // With less than two columns each, blanks between some would look like missing candles.
  const pitch = free < 2 ? 1 : Math.min(MAX_PITCH, free)
  const plotColumns = Math.floor(pitch * slots.length)
  /** The column of a candle: in the middle of its columns, or in the first of two. */
  const columnOf = (index: number) => Math.floor(index * pitch + (pitch - 1) / 2)
  const plot = (rows: number, glyph: (candle: ChartCandle, above: number) => string) =>
    Array.from({ length: rows }, (_, row) => {
      const line = new CellLine()
      for (const [index, { candle }] of slots.entries()) {
        if (candle === undefined) continue
        line.padTo(columnOf(index)).add(glyph(candle, rows - 1 - row), isRising(candle) ? 'rising' : 'falling')
      }
      return line.padTo(plotColumns)
    })

  const stepOf = (price: number | string) =>
    Math.min(2 * priceRows - 1, Math.max(0, Math.floor(scale.position(Number(price)) * 2 * priceRows)))
  const rowOf = (price: number | string) => priceRows - 1 - Math.floor(stepOf(price) / 2)
  const labels = new Map(ticks.map(({ price, text }) => [rowOf(price), text]))
  const prices = plot(priceRows, (candle, above) => candleGlyph(candle, stepOf, 2 * above, options))
  for (const [row, line] of prices.entries()) {
    const label = labels.get(row)
    line.add(' ')
    if (row === rowOf(last.close)) line.add(`${marks.last} ${lastText}`, isRising(last) ? 'rising' : 'falling')
    else line.add(label === undefined ? marks.axis : `${marks.tick} ${label}`, 'faint')
  }
  const volumes = plot(volumeRows, ({ volume }, above) =>
    volumeGlyph(Number(volume) === 0 ? 0 : Number(volume) / maxVolume, volumeRows, above, options),
  )
  volumes[0]?.add('   ').add(volumeText, 'faint')

  const openTimes = slots.map(({ openTime }) => openTime)
  const times = timeLabels(openTimes, characters => Math.ceil((characters + LABEL_GAP) / pitch))
  // A label that would end beyond the width is left out, unless it is the only one.
  const placed = times
    .map(({ index, text }) => ({ column: columnOf(index), text }))
    .filter(({ column, text }) => times.length === 1 || column + text.length <= width)
  const axis = Array.from({ length: plotColumns }, (_, index) =>
    placed.some(({ column }) => column === index) ? marks.label : marks.line,
  )
  const dates = new CellLine()
  for (const { column, text } of placed) dates.padTo(Math.min(column, width - text.length)).add(text)
  const lines = [...head, new CellLine(), ...prices, ...volumes, new CellLine().add(axis.join(''), 'faint'), dates]
  return lines.map(line => line.toString(options.colour))
}

/** Lines break after commas, and else between words. */
function wrap(texts: readonly (readonly [text: string | undefined, ink?: Ink])[], width: number): CellLine[] {
  const lines = [new CellLine()]
  for (const [text, ink] of texts) {
    const clauses = text?.split(/(?<=,) /) ?? []
    const words = clauses.flatMap(clause => (textColumns(clause) > width ? clause.split(' ') : clause))
    for (const [index, word] of words.entries()) {
      const line = lines[lines.length - 1]
      const gap = line.length === 0 ? 0 : index === 0 ? 2 : 1
      const isFull = line.length > 0 && line.length + gap + textColumns(word) > width
      if (isFull) lines.push(new CellLine().add(word, ink))
      else line.add(' '.repeat(gap)).add(word, ink)
    }
  }
  return lines
}
