/** The SHA-256 of bytes, in hex. */
export function sha256(bytes: Uint8Array): string {
  // Loaded where it is needed: it takes 7 ms.
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest('hex')
}
