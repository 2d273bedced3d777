// Preload: a worker thread ends when it opens a file whose path contains KLINES_TEST_DIE, as one that is out of memory does.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const { openSync } = fs
const { KLINES_TEST_DIE: part, KLINES_TEST_LOG: log } = process.env

fs.openSync = (path, ...rest) => {
  if (!isMainThread && String(path).includes(part)) {
    fs.appendFileSync(log, 'died\n')
    process.exit(1)
  }
  return openSync(path, ...rest)
}
syncBuiltinESMExports()
