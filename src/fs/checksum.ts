import type { Hash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'

const CHUNK_BYTES = 1024 * 1024

/** The SHA-256 of bytes, in hex. */
export function sha256(bytes: Uint8Array): string {
  return newHash().update(bytes).digest('hex')
}

/** The SHA-256 of a file, in hex. It is read in pieces. Throws what the file system throws. */
export function fileSha256(path: string): string {
  const hash = newHash()
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const file = openSync(path, 'r')
  try {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) hash.update(chunk.subarray(0, read))
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}

/** A SHA-256 to feed. Its module is loaded here, as that takes 7 ms. */
export function newHash(): Hash {
  return process.getBuiltinModule('node:crypto').createHash('sha256')
}
