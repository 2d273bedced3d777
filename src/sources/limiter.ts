/**
 * Runs calls, `most` of them at once; the others wait in their order. Throws what a call throws, and the reason of the signal when it aborts
 * before the call begins.
 */
export function limiter(most: number) {
  let running = 0
  let waiting: (() => void)[] = []
  const wait = (signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      waiting.push(resolve)
      signal?.addEventListener('abort', () => {
        waiting = waiting.filter(one => one !== resolve)
        reject(signal.reason)
      })
    })
  return async <T>(call: () => T | Promise<T>, signal?: AbortSignal): Promise<T> => {
    signal?.throwIfAborted()
    if (running < most) running++
    else await wait(signal)
    try {
      return await call()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
