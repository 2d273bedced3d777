import { readFileSync, statSync } from 'node:fs'
import { writeFile } from '../../src/mirror/file-store.js'

/**
 * Writes the versions of a file (the contents and times of `files`) to `root/path` in turn until stdin ends and it has done so at
 * least 1,000 times, of which a line on stdout tells; then prints the number of swaps and the index of the last version.
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
  if (swaps === 1_000) console.log('often')
  if (ended && swaps >= 1_000) console.log(JSON.stringify({ swaps, last: (swaps - 1) % versions.length }))
  else setImmediate(swap)
}
swap()
