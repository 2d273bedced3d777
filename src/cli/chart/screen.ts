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
import { coverageText } from '../reports/coverage.js'
import { SYNTHETIC } from '../reports/fields.js'
import type { ChartRoom, LoadedCharts } from './load-charts.js'

/** Columns and rows where neither flags nor a terminal say them. */
const [COLUMNS, ROWS] = [80, 24]

/** What the flags of a chart say about its looks. */
interface ScreenFlags {
  width?: number | undefined
  height?: number | undefined
  ascii?: boolean
  log?: boolean
}

/** How many candles fit. */
export function screenRoom(flags: ScreenFlags): ChartRoom {
  const size = chartSize(flags)
  return { candles: candlesThatFit(size.width), besideLabels: chart => candlesBesideLabels(chart, size) }
}

export function warnAboutWidth(flags: ScreenFlags, warn: (text: string) => void): void {
  const width = chartWidth(flags)
  if (width < MIN_WIDTH) warn(`The terminal has ${width} columns; a chart needs ${MIN_WIDTH}.`)
}

/** Prints the charts below each other, and what the range lacks. */
export function drawCharts({ charts, coverage, range, baseUrl }: LoadedCharts, flags: ScreenFlags): void {
  const options = { ...chartStyle(flags), ...chartSize(flags), height: chartHeight(flags) }
  const lines = charts.flatMap((chart, index) => [...(index === 0 ? [] : ['']), ...drawFrame(chart, options)])
  const short = coverageText(coverage, { range, baseUrl, verbose: false })
  if (short !== undefined) lines.push('', short)
  if (baseUrl === SAMPLE) lines.push('', SYNTHETIC)
  // The texts are drawn from names and decimals that were checked; ANSI codes must reach the terminal.
  process.stdout.write(`${lines.join('\n')}\n`)
}

function chartSize({ log = false, ...flags }: ScreenFlags) {
  return { width: chartWidth(flags), log }
}

/** The columns of a chart: the flag's, the terminal's, those of COLUMNS, or 80. */
function chartWidth({ width }: ScreenFlags): number {
  const { COLUMNS: given = '' } = process.env
  return width ?? (process.stdout.columns || (/^[1-9]\d{0,3}$/.test(given) ? Number(given) : COLUMNS))
}

/** The rows of each of several charts below each other, of which the terminal shows one and the prompt, at most 30. */
function chartHeight({ height }: ScreenFlags): number {
  const { rows } = process.stdout
  return height ?? Math.max(MIN_HEIGHT, Math.min(MAX_HEIGHT, rows ? rows - 1 : ROWS))
}

/** The characters and colours that stdout shows. FORCE_COLOR wins over NO_COLOR, as in Node itself. */
export function chartStyle({ ascii }: ScreenFlags): GlyphStyle {
  const { TERM, FORCE_COLOR, NO_COLOR } = process.env
  const isDumb = TERM === 'dumb' && process.stdout.isTTY
  const isForced = FORCE_COLOR !== undefined && FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  const colour = isForced || (!NO_COLOR && process.stdout.isTTY === true && process.stdout.hasColors())
  return { colour, ascii: ascii === true || isDumb || !hasUtf8() }
}

/** Whether the locale has UTF-8. Without a locale, as in many containers, and on Windows terminals do. */
function hasUtf8(): boolean {
  const { LC_ALL, LC_CTYPE, LANG } = process.env
  const locale = LC_ALL || LC_CTYPE || LANG
  return locale === undefined || locale === '' || process.platform === 'win32' || /utf-?8/i.test(locale)
}
