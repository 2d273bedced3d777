import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { Connection, Turns } from './connection.js'
import type { Limits } from './limits.js'

/** How often idle connections are closed while the server finishes, ms. Requests on their way may still arrive meanwhile. */
const FINISH_MS = 50

/** The open connections of a server. */
export class Connections {
  private static readonly all = new WeakMap<Server, Connections>()

  private readonly open = new Set<Connection>()
  private readonly turns = new Turns()
  /** Requests that wait for their turn, on all connections. */
  private waiting = 0

  /** `onExcess` is called for a connection beyond the limit. */
  constructor(
    private readonly server: Server,
    private readonly limits: Limits,
    private readonly onExcess: (connection: Connection) => void,
  ) {
    Connections.all.set(server, this)
    // Beyond twice the limit they are closed without a response.
    server.maxConnections = 2 * limits.connections
    server.on('connection', (socket: Socket) => this.add(socket))
    // Node takes a connection for idle whose response is still being sent. `close` calls this.
    server.closeIdleConnections = () => {}
  }

  /** The connections of a hardened server. */
  static of(server: Server): Connections {
    const connections = Connections.all.get(server)
    if (!connections) throw new Error('Not a hardened server.')
    return connections
  }

  private add(socket: Socket): void {
    const connection = new Connection(socket, this.turns, change => this.countWaiting(change))
    this.open.add(connection)
    socket.once('close', () => this.open.delete(connection))
    if (this.open.size > this.limits.connections) this.onExcess(connection)
  }

  /** When too many requests wait, drops the connection with most of them. */
  private countWaiting(change: number): void {
    this.waiting += change
    if (this.waiting <= this.limits.waitingRequests) return
    const [first, ...others] = this.open
    others.reduce((most, other) => (other.waitingCount > most.waitingCount ? other : most), first).drop()
  }

  /** Stops listening, answers what was received, and closes all connections: after `graceMs` whatever they do. */
  async finish(graceMs: number): Promise<void> {
    this.server.close()
    for (const connection of this.open) connection.finish()
    const end = performance.now() + graceMs
    while (this.open.size > 0 && performance.now() < end) {
      await sleep(FINISH_MS)
      // On a busy machine the time is over before the event loop has read what arrived: let it do so first.
      await nextTurn()
      for (const connection of this.open) connection.closeIfIdle()
    }
    for (const { socket } of this.open) socket.destroy()
  }
}
