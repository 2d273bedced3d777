import { createInterface } from 'node:readline/promises'
import { isKlinesError, KlinesError } from '../../klines/errors.js'
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

/**
 * Runs a job that may be refused because of very many requests, before any candle is downloaded: asks at a terminal, and runs
 * it again `withYes`. Throws the refusal without a terminal to ask at, and `bad_option` when the answer is no: what was requested
 * is not there, and a command after `&&` must not run.
 */
export async function confirmRequests<Result>(
  run: () => Promise<Result>,
  withYes: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    const isAskable = isKlinesError(error, 'bad_option') && error.data.requests !== undefined
    if (!isAskable || !isInteractive()) throw error
    const reason = error.message.replace(/ Expected at most [^.]*\.$/, '')
    if (await confirm(`${reason} Download them?`, signal)) return await withYes()
    const { suggestions, data } = error
    throw new KlinesError('bad_option', 'Nothing was downloaded, because the answer was no.', { suggestions, data })
  }
}
