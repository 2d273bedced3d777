import type { Send } from './tasks.js'

/** Messages that wait for the main thread at once: it may be busy with a task of its own. */
const MAX_WAITING = 8

/** Sends messages of a task in order, and waits only when many of them are on their way. */
export class SendAhead<Sent> {
  private readonly sending: Promise<void>[] = []

  constructor(private readonly send: Send<Sent>) {}

  /** Throws when an earlier message could not be taken. */
  async add(sent: Sent, transfer?: readonly ArrayBuffer[]): Promise<void> {
    if (this.sending.length === MAX_WAITING) await this.sending.shift()
    const sending = this.send(sent, transfer)
    this.sending.push(sending)
    // The next wait reports it.
    sending.catch(() => {})
  }

  /** Adds a copy of bytes, because they may be a part of a larger buffer. */
  addBytes(this: SendAhead<Sent | Uint8Array>, bytes: Uint8Array): Promise<void> {
    const copy = new Uint8Array(bytes)
    return this.add(copy, [copy.buffer])
  }

  /** Resolves when all messages were taken. */
  async end(): Promise<void> {
    await Promise.all(this.sending)
  }
}
