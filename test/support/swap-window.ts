import { readFileSync, statSync } from 'node:fs'
import { writeFile } from '../../src/mirror/file-store.js'

/**
 * Writes the versions of a file (the contents and times of `files`) to `root/path` in turn until stdin ends; then prints the
 * number of swaps and the index of the last version.
 */
const [root, path, ...files] = process.argv.slice(2)
const versions = files.map(file => ({ bytes: readFileSync(file), mtimeMs: statSync(file).mtimeMs }))
let [swaps, ended] = [0, false]
process.stdin.on('end', () => {
  ended = true
})
process.stdin.resume()

function swap(): void {
  const { bytes, mtimeMs } = versions[swaps % versions.length]
  writeFile(root, path, bytes, mtimeMs)
  swaps++
  if (ended) console.log(JSON.stringify({ swaps, last: (swaps - 1) % versions.length }))
  else setImmediate(swap)
}
swap()
