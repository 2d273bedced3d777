import { createInterface } from 'node:readline/promises'

/** Whether there is a person to ask: one who sees the question, and can answer. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/**
 * Asks a question at the terminal. Anything but yes is no, the end of input (Ctrl-D) too; Ctrl-C interrupts as it does
 * everywhere. Throws the signal's reason.
 */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted()
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  // The terminal hands over Ctrl-C as a key while it is asked, and a prompt that is closed answers nothing.
  prompt.on('SIGINT', () => process.emit('SIGINT'))
  let isAnswered = false
  const answered = prompt.question(`${question} [y/N] `).then(
    text => {
      isAnswered = true
      return text
    },
    () => '',
  )
  const ended = new Promise<string>(resolve => prompt.once('close', () => resolve('')))
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  try {
    return /^y(es)?$/i.test((await Promise.race([interrupted, answered, ended])).trim())
  } finally {
    prompt.close()
    // The cursor stands behind the question still.
    if (!isAnswered) process.stderr.write('\n')
  }
}
