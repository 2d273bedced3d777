import { connect, createServer, type Server, type Socket } from 'node:net'
import { listen } from '../../support/servers/listen.js'

/** What the proxy does to a connection, drawn at random for each. */
type ProxyFault = 'none' | 'latency' | 'bandwidth' | 'slice' | 'reset' | 'stall'

const FAULTS: readonly ProxyFault[] = ['latency', 'bandwidth', 'slice', 'reset', 'stall']

interface FaultProxyOptions {
  /** Port of 127.0.0.1 where the healthy server listens. */
  readonly target: number
  /** The same seed gives the n-th connection the same fault at the same byte. */
  readonly seed: number
  /** The share of faulty connections, 0 to 1. */
  readonly faultRate: number
  /** How long a stalled connection stays silent before it is reset, ms. */
  readonly stallMs: number
}

/** A running proxy. */
interface FaultProxy {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts a TCP proxy on a free port of the loopback in front of a healthy server. A faulty connection delays every piece of
 * the response, limits it to 64 KB/s, sends a few bytes at a time, or resets or stalls the connection after some bytes. It
 * never changes a byte. The caller stops it.
 */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { target, seed, faultRate, stallMs } = options
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer(client => {
    const random = seededRandom(seed + 7919 * connections++)
    const fault = random() < faultRate ? FAULTS[Math.floor(random() * FAULTS.length)] : 'none'
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    forward(upstream, client, fault, random, stallMs)
  })
  const port = await listen(server)
  return { url: `http://127.0.0.1:${port}`, stop: () => stop(server, sockets) }
}

/** Forwards the response to the client with the connection's fault. */
async function forward(
  from: Socket,
  to: Socket,
  fault: ProxyFault,
  random: () => number,
  stallMs: number,
): Promise<void> {
  // The fault strikes within the first few responses of the connection.
  let left = fault === 'reset' || fault === 'stall' ? Math.floor(random() * 8_000) : Number.POSITIVE_INFINITY
  try {
    for await (const bytes of from as AsyncIterable<Buffer>) {
      if (fault === 'latency') await wait(5 + random() * 60)
      for (const piece of splitPieces(bytes, fault, random)) {
        const whole = piece.length < left
        await send(to, whole ? piece : piece.subarray(0, left))
        left -= piece.length
        if (!whole) {
          if (fault === 'stall') await wait(stallMs)
          to.resetAndDestroy()
          return
        }
        // 64 KB/s; the pause is the fault.
        if (fault === 'bandwidth') await wait(piece.length / 64)
      }
    }
    to.end()
  } catch {
    to.destroy()
  }
}

/** Splits bytes into the pieces that are sent at once. */
function* splitPieces(bytes: Buffer, fault: ProxyFault, random: () => number): Generator<Buffer> {
  for (let offset = 0; offset < bytes.length; ) {
    const size = fault === 'slice' ? 1 + Math.floor(random() * 40) : fault === 'bandwidth' ? 4_096 : bytes.length
    yield bytes.subarray(offset, offset + size)
    offset += size
  }
}

/** Resolves when the operating system has taken the bytes, or the connection is closed. */
function send(socket: Socket, bytes: Buffer): Promise<void> {
  if (bytes.length === 0 || socket.destroyed) return Promise.resolve()
  socket.setNoDelay(true)
  return new Promise(resolve => socket.write(bytes, () => resolve()))
}

function wait(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

function stop(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  for (const socket of sockets) socket.destroy()
  return closed
}

/** Returns a generator of numbers in [0, 1) that depend on the seed only (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
