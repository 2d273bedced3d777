import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { rawReply } from '../../support/servers/raw-server.js'
import type { FaultRequest, FaultResponse } from './fault-server.js'

/** A whole answer with a length that is right; `body` is the healthy file unless given. */
export function reply(status: string, headers: readonly string[] = [], body?: string | Buffer): FaultResponse {
  return exchange => {
    const bytes = Buffer.from(body ?? exchange.file ?? '')
    exchange.socket.write(rawReply(status, [...exchange.times, ...headers, `Content-Length: ${bytes.length}`], bytes))
  }
}

/** 200 with another body. */
export function ok(body: string | Buffer, ...headers: string[]): FaultResponse {
  return reply('200 OK', headers, body)
}

/** 200 with other rows. */
export function rows(value: unknown): FaultResponse {
  return ok(JSON.stringify(value))
}

/** A redirect. */
export function redirect(location: string | undefined, status = '302 Found'): FaultResponse {
  return reply(status, location === undefined ? [] : [`Location: ${location}`], '')
}

/** 429 with a Retry-After. */
export function busy(retryAfter: string): FaultResponse {
  return reply('429 Too Many Requests', [`Retry-After: ${retryAfter}`], '')
}

/** Bytes as they are, and the connection stays open. */
export function raw(bytes: string | Buffer): FaultResponse {
  return ({ socket }) => void socket.write(bytes)
}

/** Nothing at all, and the connection stays open. */
export const silence: FaultResponse = () => {}

/** How a connection is ended. */
export type Ending = 'close' | 'reset'

function endWith(socket: Socket, ending: Ending): void {
  if (ending === 'close') socket.end()
  else socket.resetAndDestroy()
}

/** The connection ended before a byte of an answer. */
export function hangUp(ending: Ending = 'close'): FaultResponse {
  return ({ socket }) => endWith(socket, ending)
}

/** Headers that are right, the first bytes of the body (negative: but for the last), and then an end. */
export function cutAt(bytes: number | 'middle', ending: Ending): FaultResponse {
  return async exchange => {
    const { socket, times, file = Buffer.alloc(0) } = exchange
    const count = bytes === 'middle' ? file.length >> 1 : bytes < 0 ? file.length + bytes : bytes
    const head = rawReply('200 OK', [...times, `Content-Length: ${file.length}`])
    // A reset right behind the bytes would take them back: they are seen off first.
    await new Promise<void>(resolve => socket.write(Buffer.concat([head, file.subarray(0, count)]), () => resolve()))
    endWith(socket, ending)
  }
}

/** The healthy file in pieces of `size` bytes with pauses, in ms; ends when the other side does. */
export function drip(size: number, pauseMs: (piece: number) => number): FaultResponse {
  return async exchange => {
    const { socket, times, file = Buffer.alloc(0) } = exchange
    socket.setNoDelay(true)
    socket.write(rawReply('200 OK', [...times, `Content-Length: ${file.length}`]))
    for (let at = 0; at < file.length && !socket.destroyed; at += size) {
      socket.write(file.subarray(at, at + size))
      await pause(pauseMs(at / size))
    }
  }
}

/** A body without an end, as fast as it is taken; `head` are the header lines. Ends when the other side does. */
export function endless(head: readonly string[], piece: Buffer): FaultResponse {
  return async ({ socket }: FaultRequest) => {
    socket.write(`HTTP/1.1 200 OK\r\n${head.map(line => `${line}\r\n`).join('')}\r\n`)
    const closed = once(socket, 'close').catch(() => {})
    // Bounded: a client that takes 64 MB has failed.
    for (let sent = 0; sent < 64 * 1024 * 1024 && !socket.destroyed; sent += piece.length) {
      if (!socket.write(piece)) await Promise.race([once(socket, 'drain').catch(() => {}), closed])
    }
    socket.destroy()
  }
}

/** A chunk of a chunked body. */
export function asChunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}
