/** Limits on what a client may use; times in ms. Node's defaults let a slow body stay open for minutes. */
export const LIMITS = {
  headersMs: 5_000,
  requestMs: 10_000,
  /** How often the two limits above are checked. */
  checkMs: 1_000,
  /**
   * A connection without traffic in either direction is dropped after this. For one whose client stopped reading it may take twice as
   * long: Node's timer counts what the kernel took of a response as traffic.
   */
  idleMs: 30_000,
  keepAliveMs: 10_000,
  headerBytes: 16 * 1024,
  urlBytes: 4 * 1024,
  bodyBytes: 64 * 1024,
  connections: 1_000,
  /** How long requests that were received may take once the server is closing. */
  graceMs: 5_000,
}

export type Limits = typeof LIMITS
