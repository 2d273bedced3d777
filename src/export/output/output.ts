/** Where the bytes of a target go: a file, a stream, or one of them compressed. */
export interface Output {
  /** Number of bytes written. */
  readonly bytes: number
  /** Takes the next bytes; resolves when more may come. */
  write(chunk: Uint8Array): Promise<void>
  /** Resolves when all bytes are on the disk or with the reader. A file is not visible yet. */
  finish(): Promise<void>
  /** Puts a finished file in its place. */
  commit(): Promise<void>
  /** Leaves everything as it was, as far as possible. Never throws. */
  discard(): Promise<void>
}
