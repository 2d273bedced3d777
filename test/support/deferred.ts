/** A promise and the function that resolves it. */
export interface Deferred<T = void> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>(fulfill => {
    resolve = fulfill
  })
  return { promise, resolve }
}

/**
 * The time, in ms, within which an interrupted program has to end: it does in a tenth of a second, and one that waits for what never
 * comes takes a minute.
 */
export const PROMPT_MS = 10_000

/** Polls `condition` every millisecond and resolves when it is true; rejects after `limitMs`, by default only if something hangs. */
export async function until(condition: () => boolean, limitMs = 60_000): Promise<void> {
  const end = Date.now() + limitMs
  while (!condition()) {
    if (Date.now() > end) throw new Error(`Not true within ${limitMs} ms: ${condition}`)
    await new Promise(resolve => setTimeout(resolve, 1))
  }
}

/** Waits for some turns of the event loop, so that pending I/O can make progress. */
export async function turns(count = 50): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(resolve => setImmediate(resolve))
}
