import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** Stores a file on a disk that writes half of the bytes and reports success for all; prints the result. */
const [root, path] = process.argv.slice(2)
const { writeSync } = fs
fs.writeSync = ((descriptor: number, bytes: Uint8Array) => {
  writeSync(descriptor, bytes, 0, Math.floor(bytes.length / 2))
  return bytes.length
}) as typeof fs.writeSync
syncBuiltinESMExports()
const { writeFile } = await import('../../src/mirror/file-store.js')
try {
  writeFile(root, path, Buffer.from('[1,2,3,4]'), Date.now())
  console.log('stored')
} catch (error) {
  console.log(`refused: ${(error as Error).message}`)
}
