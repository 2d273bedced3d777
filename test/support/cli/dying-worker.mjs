// Preload: a worker thread ends when it opens the file whose path contains KLINES_TEST_DIE, as one that is out of memory does.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) {
  const { openSync } = fs
  fs.openSync = (path, ...rest) => {
    if (String(path).includes(process.env.KLINES_TEST_DIE)) {
      fs.appendFileSync(process.env.KLINES_TEST_LOG, 'died\n')
      process.exit(1)
    }
    return openSync(path, ...rest)
  }
  syncBuiltinESMExports()
}
