/** A call of `node:fs` that fails, or at which a signal is sent. */
export interface FailingCall {
  /** As `writeSync`, `promises.rename` or `handle.sync`. */
  readonly call: string
  /** The code of the error, or a signal. */
  readonly code: string
  /** The first call that fails, counted from 1. Default: 1. */
  readonly at?: number
  /** How many calls fail. Default: all of them. */
  readonly times?: number
  /** Only calls whose path contains this count. */
  readonly path?: string
  /** Only in worker threads, of a process; in all threads if it is not said. */
  readonly in?: 'workers'
  /** In this process: gets the path of each such call. */
  readonly seen?: string[]
}

/** Makes calls fail from now on; returns a function that ends this. */
export function failCalls(faults: readonly FailingCall[]): () => void
