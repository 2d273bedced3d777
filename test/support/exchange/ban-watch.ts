import type { Socket } from 'node:net'

/** A request this long after a ban was not on its way, ms of real time. */
const ON_THE_WAY_MS = 2_000

/**
 * Tells requests that a client sent although it knew of a ban from those that were on their way then: it knew when the same
 * connection has answered 418 before, or long after the first 418. The first request of another connection is not blamed, so a
 * test of requests one after the other should count them.
 */
export class BanWatch {
  private readonly sockets = new WeakSet<Socket>()
  private bannedAt = Number.POSITIVE_INFINITY

  /** Notes a 418 that was sent over `socket`. */
  banned(socket: Socket): void {
    this.sockets.add(socket)
    this.bannedAt = Math.min(this.bannedAt, performance.now())
  }

  /** Whether the client knew of a ban when it sent a request over `socket`. */
  isLate(socket: Socket): boolean {
    return this.sockets.has(socket) || performance.now() > this.bannedAt + ON_THE_WAY_MS
  }
}
