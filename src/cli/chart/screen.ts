import type { GlyphStyle } from '../../chart/terminal/cells.js'
import {
  candlesBesideLabels,
  candlesThatFit,
  drawFrame,
  MAX_HEIGHT,
  MIN_HEIGHT,
  MIN_WIDTH,
} from '../../chart/terminal/frame.js'
import { SAMPLE } from '../../sources/base-url.js'
import { coverageText, SYNTHETIC } from '../fields.js'
import type { ChartRoom, LoadedCharts } from './load-charts.js'

/** What the flags of a chart say about its looks. */
interface ScreenFlags {
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly ascii: boolean
  readonly log: boolean
}

/** How many candles fit. */
export function screenRoom(flags: ScreenFlags): ChartRoom {
  const size = { width: chartWidth(flags), log: flags.log }
  return { candles: candlesThatFit(size.width), besideLabels: chart => candlesBesideLabels(chart, size) }
}

/** Prints the charts below each other, and what the range lacks. Warns when a chart does not fit. */
export function drawCharts(loaded: LoadedCharts, flags: ScreenFlags, warn: (text: string) => void): void {
  const { charts, coverage, range, baseUrl } = loaded
  const width = chartWidth(flags)
  if (width < MIN_WIDTH) warn(`The terminal has ${width} columns; a chart needs ${MIN_WIDTH}.`)
  // The terminal shows one of several charts, and the prompt.
  const rows = Math.max(MIN_HEIGHT, Math.min(MAX_HEIGHT, process.stdout.rows ? process.stdout.rows - 1 : 24))
  const options = { ...chartStyle(flags.ascii), width, log: flags.log, height: flags.height ?? rows }
  const lines = charts.flatMap((chart, index) => [...(index === 0 ? [] : ['']), ...drawFrame(chart, options)])
  const short = coverageText(coverage, { range, baseUrl, verbose: false })
  if (short !== undefined) lines.push('', short)
  if (baseUrl === SAMPLE) lines.push('', SYNTHETIC)
  // The texts are drawn from names and decimals that were checked; ANSI codes must reach the terminal.
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** The columns of a chart: the flag's, the terminal's, those of COLUMNS, or 80. */
function chartWidth({ width }: ScreenFlags): number {
  const { COLUMNS = '' } = process.env
  return width ?? (process.stdout.columns || (/^[1-9]\d{0,3}$/.test(COLUMNS) ? Number(COLUMNS) : 80))
}

/** The characters and colours that stdout shows. FORCE_COLOR wins over NO_COLOR, as in Node itself. */
function chartStyle(ascii: boolean): GlyphStyle {
  const { TERM, FORCE_COLOR, NO_COLOR } = process.env
  const isDumb = TERM === 'dumb' && process.stdout.isTTY
  const isForced = FORCE_COLOR !== undefined && FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  const colour = isForced || (!NO_COLOR && process.stdout.isTTY === true && process.stdout.hasColors())
  return { colour, ascii: ascii || isDumb || !hasUtf8() }
}

/** Whether the locale has UTF-8. Without a locale, as in many containers, and on Windows terminals do. */
function hasUtf8(): boolean {
  const { LC_ALL, LC_CTYPE, LANG } = process.env
  const locale = LC_ALL || LC_CTYPE || LANG || 'UTF-8'
  return process.platform === 'win32' || /utf-?8/i.test(locale)
}
