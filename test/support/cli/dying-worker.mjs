// Preload: a worker thread ends when it opens a file whose path contains KLINES_TEST_DIE, as one that is out of memory does. The
// main thread waits for that before it opens such a file.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const { openSync } = fs
const { KLINES_TEST_DIE: part, KLINES_TEST_LOG: log } = process.env
const LIMIT_MS = 20_000

fs.openSync = (path, ...rest) => {
  if (String(path).includes(part)) {
    if (!isMainThread) {
      fs.appendFileSync(log, 'died\n')
      process.exit(1)
    }
    const limit = Date.now() + LIMIT_MS
    while (!fs.existsSync(log) && Date.now() < limit) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
  return openSync(path, ...rest)
}
syncBuiltinESMExports()
