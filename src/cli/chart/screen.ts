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

/** ANSI codes: the alternate screen, the cursor, and whether long lines go on in the next one. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l'
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l'
const HOME = '\x1b[H'
const CLEAR_LINE = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'

/** The terminal's second screen: what was on the first one is there again when this one is closed. */
export class AlternateScreen {
  private readonly restore = () => process.stdout.write(LEAVE)
  private onResize: (() => void) | undefined

  constructor() {
    process.stdout.write(ENTER)
    // A second Ctrl-C may end the process without a call of close().
    process.once('exit', this.restore)
  }

  /** Calls `action` at each change of the size. */
  watchSize(action: () => void): void {
    this.onResize = action
    process.stdout.on('resize', action)
  }

  /** Draws over what is there, without a moment of an empty screen. Lines that do not fit above the last one are left out. */
  draw(lines: readonly string[], lastLine: string): void {
    const visible = [...lines.slice(0, (process.stdout.rows || Infinity) - 1), lastLine]
    process.stdout.write(`${HOME}${visible.map(line => line + CLEAR_LINE).join('\r\n')}${CLEAR_BELOW}`)
  }

  close(): void {
    if (this.onResize) process.stdout.off('resize', this.onResize)
    process.off('exit', this.restore)
    this.restore()
  }
}
