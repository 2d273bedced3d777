import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** Stores a file while somebody removes the mirror's folder so many times, at the worst moment; prints what comes of it. */
const [root, path, times] = process.argv.slice(2)
const { openSync, renameSync } = fs
let left = Number(times)
const vanish = () => {
  if (left-- > 0) fs.rmSync(root, { recursive: true })
}
fs.openSync = ((file: string, flags: string, mode: number) => {
  if (flags === 'wx' && left % 2 === 0) vanish()
  return openSync(file, flags, mode)
}) as typeof fs.openSync
fs.renameSync = (from, to) => {
  vanish()
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
