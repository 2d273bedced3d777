// The control of the kill loops: writes directly to the final paths, as careless tools do.
// `tree BASE-URL FOLDER PATHS` downloads the files whose paths are listed in a file; `file FROM TO` copies one.
import { createReadStream, createWriteStream, mkdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const SLICE = 16 * 1024
const CONCURRENCY = 16

function download(url, path) {
  mkdirSync(dirname(path), { recursive: true })
  const file = createWriteStream(path, { highWaterMark: SLICE })
  return new Promise((resolve, reject) => {
    get(url, response => pipeline(response, file).then(resolve, reject)).on('error', reject)
  })
}

const [task, ...args] = process.argv.slice(2)
if (task === 'file') {
  const [from, to] = args
  await pipeline(createReadStream(from, { highWaterMark: SLICE }), createWriteStream(to))
} else {
  const [baseUrl, folder, list] = args
  const paths = readFileSync(list, 'utf8').split('\n')
  const lane = async () => {
    for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
      await download(`${baseUrl}/${path}`, join(folder, path))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, lane))
}
