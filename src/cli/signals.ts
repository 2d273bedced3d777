import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Signal = (typeof SIGNALS)[number]

/** How long a run may take to end after a signal, ms. */
export const GRACE_MS = 2_000
/** The same when a second one follows. One Ctrl-C can arrive twice: from the terminal, and from `npx` or `timeout`, which pass it on. */
const REPEAT_MS = 500

/** The reason of an aborted run: a signal, with the exit code that shells expect (128 plus its number). */
export class Interruption extends Error {
  override readonly name = 'Interruption'
  readonly exitCode: number

  constructor(signal: Signal) {
    super(`Interrupted (${signal}). What was downloaded is kept; run the same command again to continue.`)
    this.exitCode = 128 + constants.signals[signal]
  }
}

/** An AbortSignal that the first signal aborts, so that a run can end cleanly. Nothing on disk depends on that. */
export function interruptible(graceMs = GRACE_MS): { signal: AbortSignal; dispose(): void } {
  const controller = new AbortController()
  const { signal } = controller
  let firstMs = 0
  const handle = (name: Signal) => {
    const isFirst = !signal.aborted
    if (isFirst) firstMs = performance.now()
    controller.abort(new Interruption(name))
    // Output that a stalled reader does not take would keep the process alive.
    const { exitCode } = signal.reason as Interruption
    setTimeout(() => process.exit(exitCode), firstMs + (isFirst ? graceMs : REPEAT_MS) - performance.now()).unref()
  }
  for (const name of SIGNALS) process.on(name, handle)
  return {
    signal,
    dispose: () => {
      // A second signal may come while the process ends, and must not change its exit code.
      if (!signal.aborted) for (const name of SIGNALS) process.off(name, handle)
    },
  }
}
