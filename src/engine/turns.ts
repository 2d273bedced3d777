/** Lets a number of tasks run at once. Others wait, and begin in the order in which they came. */
export class Turns {
  private readonly waiting: (() => void)[] = []

  constructor(private free: number) {}

  /** Throws what the task throws, and the reason of the signal when it aborts before the task begins. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    if (this.free > 0) this.free--
    else await this.wait(signal)
    try {
      return await task()
    } finally {
      const next = this.waiting.shift()
      if (next) next()
      else this.free++
    }
  }

  private wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.waiting.splice(this.waiting.indexOf(begin), 1)
        reject(signal?.reason)
      }
      this.waiting.push(begin)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }
}
