import { execFileSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../temp-folder.js'
import type { CliSandbox, Run } from './cli-sandbox.js'

/** Whether a terminal can be made: `script` of util-linux does it. */
export const hasScript = (() => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux')
  } catch {
    return false
  }
})()
if (!hasScript) console.warn('Tests at a terminal are skipped: script of util-linux is not there.')

/** What a person types once a text has appeared. */
export interface Answer {
  readonly at: string
  readonly keys: string
}

/** Runs a command with all its streams at a terminal of its own; what came is stdout. */
export async function atTerminal(sandbox: CliSandbox, command: string, answer?: Answer): Promise<Run> {
  const fifo = join(tempFolder(), 'keys')
  execFileSync('mkfifo', [fifo])
  const script = `script -qec 'stty cols 100; timeout --foreground -s KILL 40 ${command}' /dev/null < ${fifo}`
  const { child, ended } = sandbox.startShell(script, { TERM: 'xterm-256color' })
  const keys = createWriteStream(fifo)
  let seen = ''
  let hasAnswered = answer === undefined
  child.stdout?.on('data', chunk => {
    seen += chunk
    if (hasAnswered || answer === undefined || !seen.includes(answer.at)) return
    hasAnswered = true
    keys.write(answer.keys)
  })
  // The keyboard stays there until the command is over.
  try {
    return await ended
  } finally {
    keys.destroy()
  }
}
