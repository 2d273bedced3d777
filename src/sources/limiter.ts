/** Runs calls, `most` of them at once; the others wait in their order. */
export type Limiter = <T>(call: () => T | Promise<T>) => Promise<T>

export function limiter(most: number): Limiter {
  let running = 0
  const waiting: (() => void)[] = []
  return async call => {
    if (running < most) running++
    else await new Promise<void>(resolve => waiting.push(resolve))
    try {
      return await call()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
