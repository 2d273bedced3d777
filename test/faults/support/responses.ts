import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { rawReply } from '../../support/servers/raw-server.js'
import type { FaultRequest, FaultResponse } from './fault-server.js'

/** A complete response with a correct length; `body` defaults to the healthy file. */
export function reply(status: string, headers: readonly string[] = [], body?: string | Buffer): FaultResponse {
  return ({ socket, times, file = Buffer.alloc(0) }) => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? file)
    // Sent as one, without a copy of a large body.
    socket.cork()
    socket.write(rawReply(status, [...times, ...headers, `Content-Length: ${bytes.length}`]))
    socket.write(bytes)
    socket.uncork()
  }
}

/** 200 with another body. */
export function ok(body: string | Buffer, ...headers: string[]): FaultResponse {
  return reply('200 OK', headers, body)
}

/** 200 with any JSON value instead of the rows. */
export function rows(value: unknown): FaultResponse {
  return ok(JSON.stringify(value))
}

/** A redirect; without a `Location` header if `location` is undefined. */
export function redirect(location: string | undefined, status = '302 Found'): FaultResponse {
  return reply(status, location === undefined ? [] : [`Location: ${location}`], '')
}

/** Raw bytes; the connection stays open. */
export function raw(bytes: string | Buffer): FaultResponse {
  return ({ socket }) => void socket.write(bytes)
}

/** No response; the connection stays open. */
export const silence: FaultResponse = () => {}

/** How the server ends a connection. */
export type Ending = 'close' | 'reset'

function endWith(socket: Socket, ending: Ending): void {
  if (ending === 'close') socket.end()
  else socket.resetAndDestroy()
}

/** Ends the connection before the first byte of a response. */
export function hangUp(ending: Ending = 'close'): FaultResponse {
  return ({ socket }) => endWith(socket, ending)
}

/** Correct headers and the first bytes of the body (negative: all but the last ones); then the connection ends. */
export function cutAt(bytes: number | 'middle', ending: Ending): FaultResponse {
  return async request => {
    const { socket, times, file = Buffer.alloc(0) } = request
    const count = bytes === 'middle' ? file.length >> 1 : bytes < 0 ? file.length + bytes : bytes
    const head = rawReply('200 OK', [...times, `Content-Length: ${file.length}`])
    // A reset discards bytes that are still queued, so they are flushed first.
    await new Promise<void>(resolve => socket.write(Buffer.concat([head, file.subarray(0, count)]), () => resolve()))
    endWith(socket, ending)
  }
}

/** The healthy file in pieces of `size` bytes with pauses, in ms; stops when the client closes the connection. */
export function drip(size: number, pauseMs: (piece: number) => number): FaultResponse {
  return async request => {
    const { socket, times, file = Buffer.alloc(0) } = request
    socket.setNoDelay(true)
    socket.write(rawReply('200 OK', [...times, `Content-Length: ${file.length}`]))
    for (let at = 0; at < file.length && !socket.destroyed; at += size) {
      socket.write(file.subarray(at, at + size))
      await pause(pauseMs(at / size))
    }
  }
}

/** An endless body, as fast as the client reads it; `head` are the header lines. Stops when the client closes the connection. */
export function endless(head: readonly string[], piece: Buffer): FaultResponse {
  return async ({ socket }: FaultRequest) => {
    socket.write(`HTTP/1.1 200 OK\r\n${head.map(line => `${line}\r\n`).join('')}\r\n`)
    const closed = once(socket, 'close').catch(() => {})
    // Bounded: a client that reads 64 MB has failed.
    for (let sent = 0; sent < 64 * 1024 * 1024 && !socket.destroyed; sent += piece.length) {
      if (!socket.write(piece)) await Promise.race([once(socket, 'drain').catch(() => {}), closed])
    }
    socket.destroy()
  }
}

/** Frames bytes as a chunk of a chunked body. */
export function toChunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}
