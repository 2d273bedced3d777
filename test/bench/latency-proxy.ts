import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Workspace } from './workspace.js'

/**
 * A TCP proxy on a free port of the loopback in front of port `target`, as far away as a round trip of `roundTripMs`: every
 * piece arrives half of it later in either direction, and the first one a whole one later still, for the handshake. It
 * limits no bandwidth: pieces wait side by side, not one behind the other (the proxy of the fault tests has them queue).
 * Gives its address; it ends with the workspace.
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
    carry(client, upstream, roundTripMs / 2, roundTripMs)
    carry(upstream, client, roundTripMs / 2, 0)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  workspace.defer(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise(resolve => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Sends on what comes, `delayMs` later; what comes within the first `handshakeMs` waits for the rest of these too. */
function carry(from: Socket, to: Socket, delayMs: number, handshakeMs: number): void {
  const opened = performance.now() + handshakeMs
  const queue: (() => void)[] = []
  const later = (what: () => void) => {
    queue.push(what)
    // Timers of two lengths need not fire in the order in which they were set: each takes what is first.
    setTimeout(() => queue.shift()?.(), delayMs + Math.max(0, opened - performance.now()))
  }
  from.on('data', bytes => later(() => to.destroyed || to.write(bytes)))
  from.on('end', () => later(() => to.end()))
}
