import type { IncomingMessage, ServerResponse } from 'node:http'
import { HttpError, plainError } from './error.js'

/**
 * Reads the JSON body of a request; undefined when there is neither a body nor a Content-Type. Throws `HttpError`: 400 for what is
 * empty, no JSON, or has a key that changes the prototype of an object into which it is merged; 413 for more than `limit` bytes; 415
 * for another type. After an error in the body the response is the last one of its connection, because the client may still send.
 */
export async function readJson(request: IncomingMessage, response: ServerResponse, limit: number): Promise<unknown> {
  const { 'content-type': type, 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
  if (type === undefined && length === '0' && coding === undefined) return undefined
  if (type?.split(';', 1)[0].trim().toLowerCase() !== 'application/json') throw plainError(415)
  try {
    if (Number(length) > limit) throw plainError(413)
    return parseJson(await readBytes(request, limit))
  } catch (error) {
    if (!response.headersSent) response.setHeader('connection', 'close')
    throw error
  }
}

/** By events: a loop over the request would destroy its connection after an error, and with it the response. */
function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > limit) reject(plainError(413))
      else chunks.push(chunk)
    })
    request.once('end', () => resolve(Buffer.concat(chunks)))
    // The client has disconnected.
    request.once('error', () => reject(plainError(400)))
  })
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) {
    throw new HttpError(400, "Body cannot be empty when content-type is set to 'application/json'")
  }
  const text = bytes.toString().replace(/^\ufeff/, '')
  try {
    const value: unknown = JSON.parse(text)
    if (!hasPrototypeKey(value)) return value
  } catch {}
  throw new HttpError(400, "Body is not valid JSON but content-type is set to 'application/json'")
}

/** Not recursive: a body may be nested deeper than the stack. */
function hasPrototypeKey(value: unknown): boolean {
  const pending = [value]
  for (const node of pending) {
    if (typeof node !== 'object' || node === null) continue
    if (Object.hasOwn(node, '__proto__')) return true
    for (const [key, child] of Object.entries(node)) {
      const isObject = typeof child === 'object' && child !== null
      if (isObject && key === 'constructor' && Object.hasOwn(child, 'prototype')) return true
      if (isObject) pending.push(child)
    }
  }
  return false
}
