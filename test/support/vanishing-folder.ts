import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** Stores a file while the mirror's folder is removed `times` times, at the worst moment; prints the result. */
const [root, path, times] = process.argv.slice(2)
const { openSync, renameSync } = fs
let remaining = Number(times)
const removeFolder = () => {
  if (remaining-- > 0) fs.rmSync(root, { recursive: true })
}
fs.openSync = ((file: string, flags: string, mode: number) => {
  if (flags === 'wx' && remaining % 2 === 0) removeFolder()
  return openSync(file, flags, mode)
}) as typeof fs.openSync
fs.renameSync = (from, to) => {
  removeFolder()
  renameSync(from, to)
}
syncBuiltinESMExports()
const { writeFile } = await import('../../src/mirror/file-store.js')
try {
  writeFile(root, path, Buffer.from('[1,2,3,4]'), Date.now())
  console.log('stored')
} catch (error) {
  console.log(`refused: ${(error as NodeJS.ErrnoException).code}`)
}
