/** A promise and the function that resolves it. */
export interface Deferred<T = void> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Resolves when `condition` holds, looked at every turn of the event loop; rejects after `limitMs`. */
export async function until(condition: () => boolean, limitMs = 5_000): Promise<void> {
  const end = Date.now() + limitMs
  while (!condition()) {
    if (Date.now() > end) throw new Error(`Not within ${limitMs} ms: ${condition}`)
    await new Promise(resolve => setTimeout(resolve, 1))
  }
}

/** Gives what is under way time to go on: some turns of the event loop, input and output included. */
export async function turns(count = 50): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(resolve => setImmediate(resolve))
}
