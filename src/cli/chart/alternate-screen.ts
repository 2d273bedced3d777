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
