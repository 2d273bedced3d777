// Preload: makes calls of node:fs fail as KLINES_TEST_FAIL says. For example,
// {"call":"writeSync","at":3,"times":1,"code":"EIO","path":"m/api"} fails the third call whose path contains `path`. A list of
// such objects makes several calls fail.
// The code SIGKILL kills the process there, after half of a write. With another signal the call is made, and the signal sent.
// `handle.sync` and `handle.write` are the methods of files that `node:fs/promises` opened.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** The paths of open files by descriptor. */
const paths = new Map()

function failing(real, isAsync, { call, at = 1, times = Number.POSITIVE_INFINITY, code, path }) {
  let calls = 0
  return function (...args) {
    const file =
      typeof args[0] === 'number' ? paths.get(args[0]) : typeof args[0] === 'string' ? args[0] : paths.get(this?.fd)
    const matches = path === undefined || file?.includes(path)
    if (!matches || ++calls < at || calls >= at + times) return real.apply(this, args)
    if (code === 'SIGKILL') {
      if (call.endsWith('write') || call === 'writeSync') writeHalf(this, args)
      process.kill(process.pid, 'SIGKILL')
    }
    if (code.startsWith('SIG')) {
      process.kill(process.pid, code)
      return real.apply(this, args)
    }
    const error = Object.assign(new Error(`${code}: injected, ${call}`), { code, syscall: call })
    if (isAsync) return Promise.reject(error)
    throw error
  }
}

/** Writes the first half of the bytes of a call. */
function writeHalf(self, args) {
  const [bytes] = args.filter(arg => typeof arg === 'object')
  const handle = typeof args[0] === 'number' ? args[0] : self.fd
  writeSync(handle, bytes, 0, bytes.length >> 1)
}

const { openSync, writeSync } = fs
fs.openSync = (...args) => {
  const descriptor = openSync(...args)
  paths.set(descriptor, String(args[0]))
  return descriptor
}
const { open } = fs.promises
fs.promises.open = async (...args) => {
  const handle = await open(...args)
  paths.set(handle.fd, String(args[0]))
  return handle
}

for (const fault of [JSON.parse(process.env.KLINES_TEST_FAIL)].flat()) {
  const [owner, name] = fault.call.split('.')
  if (owner === 'handle') {
    const handle = await open(new URL(import.meta.url), 'r')
    const methods = Object.getPrototypeOf(handle)
    methods[name] = failing(methods[name], true, fault)
    await handle.close()
  } else if (owner === 'promises') fs.promises[name] = failing(fs.promises[name], true, fault)
  else fs[fault.call] = failing(fs[fault.call], false, fault)
}
syncBuiltinESMExports()
