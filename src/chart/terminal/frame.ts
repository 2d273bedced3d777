import { cutToColumns, textColumns } from '../../candles/text.js'
import type { ChartCandle, FittedCandles } from '../chart-candle.js'
import { isRising, summarize } from '../summary.js'
import { timeLabels } from '../time-axis.js'
import { buildTitle, type ChartTitle } from '../title.js'
import { CellLine, type Ink } from './cells.js'
import { type Cell, type GlyphStyle, marksFor, priceColumns, stepOf, volumeColumns } from './glyphs.js'
import { type Layout, layOut, MIN_WIDTH } from './layout.js'

/** The size of a chart and how it is drawn. */
export interface FrameOptions extends GlyphStyle {
  /** Columns; at least 40 are used. */
  readonly width: number
  /** Rows in all; at least 12 are used. */
  readonly height: number
  /** A logarithmic price axis. */
  readonly log: boolean
}

/** Two blanks between labels of the time axis. */
const LABEL_GAP = 2

/**
 * A chart as lines of text, none wider than the width: title, candles and price axis, volume, time axis. `fitted` has at most
 * `candlesThatFit` slots. No line without candles.
 */
export function drawFrame(fitted: FittedCandles, options: FrameOptions): string[] {
  const summary = summarize(fitted)
  if (summary === undefined) return []
  const width = Math.max(MIN_WIDTH, options.width)
  const title = titleLines(buildTitle(fitted, summary), width)
  const layout = layOut(fitted, summary, { ...options, width, titleRows: title.length })
  const lines = [
    ...title,
    new CellLine(),
    ...priceLines(fitted, layout, options, summary.last),
    ...volumeLines(fitted, layout, options),
    ...timeLines(fitted, layout, options, width),
  ]
  return lines.map(line => line.toString(options.colour))
}

function priceLines({ slots }: FittedCandles, layout: Layout, style: GlyphStyle, last: ChartCandle): CellLine[] {
  const { scale, ticks, priceRows } = layout
  const marks = marksFor(style)
  const rowOf = (price: number) => priceRows - 1 - Math.floor(stepOf(scale, price, priceRows) / 2)
  const lastRow = rowOf(Number(last.close))
  const labels = new Map(ticks.map(({ price, text }) => [rowOf(price), text]))
  const lines = plotLines(priceColumns(slots, scale, priceRows, style), layout)
  return lines.map((line, row) => {
    line.add(' ')
    if (row === lastRow) {
      return line.add(`${marks.last} ${cut(layout.lastText, layout, style)}`, isRising(last) ? 'rising' : 'falling')
    }
    const label = labels.get(row)
    return label === undefined
      ? line.add(marks.axis, 'faint')
      : line.add(`${marks.tick} ${cut(label, layout, style)}`, 'faint')
  })
}

function volumeLines({ slots }: FittedCandles, layout: Layout, style: GlyphStyle): CellLine[] {
  const lines = plotLines(volumeColumns(slots, layout.volumeRows, style), layout)
  lines[0].add('   ').add(cut(layout.volumeText, layout, style), 'faint')
  return lines
}

/** The axis, and the labels below it. A label that would end beyond the width is left out, unless it is the only one. */
function timeLines({ slots }: FittedCandles, layout: Layout, style: GlyphStyle, width: number): CellLine[] {
  const { candleColumns, plotColumns } = layout
  const marks = marksFor(style)
  const openTimes = slots.map(({ openTime }) => openTime)
  const all = timeLabels(openTimes, characters => Math.ceil((characters + LABEL_GAP) / candleColumns))
  const placed = all
    .map(({ index, text }) => ({ column: candleColumn(index, candleColumns), text }))
    .filter(({ column, text }) => all.length === 1 || column + text.length <= width)
  const columns = new Set(placed.map(({ column }) => column))
  const axis = new CellLine()
  for (let column = 0; column < plotColumns; column++) axis.add(columns.has(column) ? marks.label : marks.line, 'faint')
  const labels = new CellLine()
  for (const { column, text } of placed) labels.padTo(Math.min(column, width - text.length)).add(text)
  return [axis, labels]
}

/** Columns of cells, one a candle, as lines. */
function plotLines(columns: readonly (readonly Cell[])[], { candleColumns, plotColumns }: Layout): CellLine[] {
  return columns[0].map((_, row) => {
    const line = new CellLine()
    for (const [index, column] of columns.entries()) {
      line.padTo(candleColumn(index, candleColumns)).add(column[row].character, column[row].ink)
    }
    return line.padTo(plotColumns)
  })
}

/** The column of a candle: in the middle of its columns, or in the first of two. */
function candleColumn(index: number, candleColumns: number): number {
  return index * candleColumns + Math.floor((candleColumns - 1) / 2)
}

function cut(text: string, { labelColumns }: Layout, style: GlyphStyle): string {
  return text.length <= labelColumns ? text : text.slice(0, labelColumns - 1) + marksFor(style).cut
}

/** A text that a line may end after. */
interface Part {
  readonly text: string
  readonly ink: Ink
  /** Blanks before it, unless it starts a line. */
  readonly gap: number
}

/** The lines above a chart, none wider than `width`. */
function titleLines(title: ChartTitle, width: number): CellLine[] {
  const { name, range, resampled, change, prices } = title
  const ink = change?.startsWith('-') ? 'falling' : 'rising'
  const head = [
    ...words(name, 'strong', 0),
    ...phrases(range, 2),
    ...(resampled === undefined ? [] : phrases(resampled, 2)),
    ...(change === undefined ? [] : words(change, ink, 2)),
  ]
  return [...wrap(head, width), ...wrap(phrases(prices, 0), width)]
}

/** A line may end after a comma. */
function phrases(text: string, gap: number): Part[] {
  return text.split(/(?<=,) /).map((text, index) => ({ text, ink: 'plain', gap: index === 0 ? gap : 1 }))
}

/** A line may end between words. */
function words(text: string, ink: Ink, gap: number): Part[] {
  return text.split(' ').map((text, index) => ({ text, ink, gap: index === 0 ? gap : 1 }))
}

/** Fills lines with parts. A part that is wider than a line is broken between its words, and a word that is, anywhere. */
function wrap(parts: readonly Part[], width: number): CellLine[] {
  const lines = [new CellLine()]
  const put = ({ text, ink, gap }: Part): void => {
    const line = lines[lines.length - 1]
    const start = line.length === 0 ? 0 : gap
    const columns = textColumns(text)
    if (line.length + start + columns <= width) {
      line.add(' '.repeat(start)).add(text, ink)
    } else if (line.length > 0 && columns <= width) {
      lines.push(new CellLine().add(text, ink))
    } else if (text.includes(' ')) {
      for (const word of words(text, ink, gap)) put(word)
    } else {
      for (let rest = text; rest !== ''; ) {
        const part = cutToColumns(rest, Math.max(2, width))
        lines.push(new CellLine().add(part, ink))
        rest = rest.slice(part.length)
      }
    }
  }
  for (const part of parts) put(part)
  return lines.filter(line => line.length > 0)
}
