import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Workspace } from './workspace.js'

/**
 * Starts a TCP proxy on a free port of the loopback in front of port `target` that simulates a round trip of `roundTripMs`:
 * every piece is delayed by half of it in either direction, and the first one by a whole round trip more, for the handshake.
 * It does not limit bandwidth: the delays of pieces overlap. Returns its address; it stops with the workspace.
 */
export async function startLatencyProxy(workspace: Workspace, target: number, roundTripMs: number): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true)
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    forward(client, upstream, roundTripMs / 2, roundTripMs)
    forward(upstream, client, roundTripMs / 2, 0)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  workspace.defer(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise(resolve => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Forwards every piece `delayMs` later; pieces of the first `handshakeMs` also wait for the end of the handshake. */
function forward(from: Socket, to: Socket, delayMs: number, handshakeMs: number): void {
  const opened = performance.now() + handshakeMs
  const queue: (() => void)[] = []
  const later = (action: () => void) => {
    queue.push(action)
    // Timers of different lengths may fire out of order, so each runs the first action of the queue.
    setTimeout(() => queue.shift()?.(), delayMs + Math.max(0, opened - performance.now()))
  }
  from.on('data', bytes => later(() => to.destroyed || to.write(bytes)))
  from.on('end', () => later(() => to.end()))
}
