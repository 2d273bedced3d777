import { setImmediate as nextTurn } from 'node:timers/promises'

/** After so many windows the event loop gets a turn: Ctrl-C must be noticed, and a server must answer. */
const WINDOWS_A_TURN = 32

/** Returns what is called and awaited after each window: it gives turns, and throws the reason of the signal when it aborts. */
export function turnGiver(signal: AbortSignal): () => Promise<void> | undefined {
  let windows = 0
  return () => {
    signal.throwIfAborted()
    return ++windows % WINDOWS_A_TURN === 0 ? nextTurn() : undefined
  }
}

/** Passes windows on, with turns of the event loop between them. */
export async function* inTurns<T>(windows: Iterable<T>, signal: AbortSignal): AsyncGenerator<T, undefined, undefined> {
  const giveTurn = turnGiver(signal)
  for (const window of windows) {
    const turn = giveTurn()
    if (turn) await turn
    yield window
  }
  return undefined
}
