import { execFileSync } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CliSandbox, Run } from './cli-sandbox.js'

/** Whether `script` of util-linux, which creates a terminal, is installed. */
export const hasScript = (() => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux')
  } catch {
    return false
  }
})()
if (!hasScript) console.warn('Tests at a terminal are skipped: script of util-linux is missing.')

/** A terminal and who sits at it. */
export interface TerminalOptions {
  /** Text after which a person types `keys`. */
  readonly prompt?: string
  readonly keys?: string
  /** Default 100; 0 for a terminal of unknown size. */
  readonly columns?: number
  /** Default: unknown. */
  readonly rows?: number
  readonly env?: Record<string, string>
}

/** What a command printed after its bar of progress. */
export function afterBar(stdout: string): string {
  // The cursor is shown when the bar ends, and once more at the end of the process.
  const [first, ...others] = stdout.split('\u001B[?25h')
  return others.length === 0 ? first : others.join('')
}

/** Runs a command at its own terminal, with a keyboard; everything it prints is stdout. */
export async function atTerminal(
  sandbox: CliSandbox,
  command: string,
  { prompt, keys = '', columns = 100, rows = 0, env }: TerminalOptions = {},
): Promise<Run> {
  // Not tempFolder: after an await, the end of another concurrent test would remove it.
  const folder = mkdtempSync(join(tmpdir(), 'klines-terminal-'))
  const fifo = join(folder, 'keys')
  execFileSync('mkfifo', [fifo])
  const script = `script -qec 'stty cols ${columns} rows ${rows}; ${command}' /dev/null < ${fifo}`
  const { child, ended } = sandbox.startShell(script, { TERM: 'xterm-256color', ...env })
  const keyboard = createWriteStream(fifo)
  // The command may end before the stream knows that it has read the keys: destroying it is an error then.
  keyboard.on('error', () => {})
  let seen = ''
  let hasAnswered = prompt === undefined
  child.stdout?.on('data', chunk => {
    seen += chunk
    if (hasAnswered || prompt === undefined || !seen.includes(prompt)) return
    hasAnswered = true
    keyboard.write(keys)
  })
  // The keyboard stays open until the command has ended.
  try {
    return await ended
  } finally {
    keyboard.destroy()
    rmSync(folder, { recursive: true, force: true })
  }
}
