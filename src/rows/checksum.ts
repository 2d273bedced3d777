import type { Hash } from 'node:crypto'

/** The SHA-256 of bytes, in hex. */
export function sha256(bytes: Uint8Array): string {
  return newHash().update(bytes).digest('hex')
}

/** A SHA-256 to feed. Its module is loaded here, as that takes 7 ms. */
export function newHash(): Hash {
  return process.getBuiltinModule('node:crypto').createHash('sha256')
}
