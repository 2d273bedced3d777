import type { GlyphStyle } from '../../chart/terminal/glyphs.js'
import { MAX_HEIGHT, MIN_HEIGHT } from '../../chart/terminal/layout.js'

/** Columns and rows where neither flags nor a terminal say them. */
const [COLUMNS, ROWS] = [80, 24]

/** What the flags of a chart say about its looks. */
interface ScreenFlags {
  width?: number | undefined
  height?: number | undefined
  ascii?: boolean
}

/** The columns of a chart: the flag's, the terminal's, those of COLUMNS, or 80. */
export function chartWidth({ width }: ScreenFlags): number {
  const { COLUMNS: given = '' } = process.env
  return width ?? (process.stdout.columns || (/^[1-9]\d{0,3}$/.test(given) ? Number(given) : COLUMNS))
}

/** The rows of each of several charts below each other, of which the terminal shows one and the prompt, at most 30. */
export function chartHeight({ height }: ScreenFlags): number {
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
