import { createInterface } from 'node:readline/promises'
import { escapeControls } from '../../klines/text.js'

/** Whether a person can see a question on stderr and answer it on stdin. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Asks a question at the terminal. Anything but yes means no, also the end of input (Ctrl-D). Throws the signal's reason. */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted()
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  // While readline waits, the terminal delivers Ctrl-C as a key.
  prompt.on('SIGINT', () => process.emit('SIGINT'))
  let isAnswered = false
  const answered = prompt.question(`${escapeControls(question)} [y/N] `).then(
    text => {
      isAnswered = true
      return text
    },
    () => '',
  )
  // A closed prompt never answers its question.
  const ended = new Promise<string>(resolve => prompt.once('close', () => resolve('')))
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  try {
    return /^y(es)?$/i.test((await Promise.race([interrupted, answered, ended])).trim())
  } finally {
    prompt.close()
    // The cursor is still behind the question.
    if (!isAnswered) process.stderr.write('\n')
  }
}
