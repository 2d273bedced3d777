// Preload: the calls of node:fs named in KLINES_TEST_FAIL fail, such as
// {"call":"writeSync","at":3,"times":1,"code":"EIO","path":"m/api"}: the third one whose path holds `path`, and it alone.
// With the code SIGKILL the process is killed there, a write half done.
// `sync` and `write` of files that `node:fs/promises` opened count too, as `handle.sync` and `handle.write`.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { call, at = 1, times = Number.POSITIVE_INFINITY, code, path } = JSON.parse(process.env.KLINES_TEST_FAIL)
let seen = 0

/** Where the files lie that are open now. */
const places = new Map()

function failing(real, isAsync) {
  return function (...args) {
    const place =
      typeof args[0] === 'number' ? places.get(args[0]) : typeof args[0] === 'string' ? args[0] : places.get(this.fd)
    const isMeant = path === undefined || place?.includes(path)
    if (!isMeant || ++seen < at || seen >= at + times) return real.apply(this, args)
    if (code === 'SIGKILL') {
      if (call.endsWith('write') || call === 'writeSync') halfOf(this, args)
      process.kill(process.pid, 'SIGKILL')
    }
    const error = Object.assign(new Error(`${code}: injected, ${call}`), { code, syscall: call })
    if (isAsync) return Promise.reject(error)
    throw error
  }
}

/** Writes the first half of what was to be written. */
function halfOf(self, args) {
  const [bytes] = args.filter(arg => typeof arg === 'object')
  const handle = typeof args[0] === 'number' ? args[0] : self.fd
  writeSync(handle, bytes, 0, bytes.length >> 1)
}

const { openSync, writeSync } = fs
fs.openSync = (...args) => {
  const descriptor = openSync(...args)
  places.set(descriptor, String(args[0]))
  return descriptor
}
const { open } = fs.promises
fs.promises.open = async (...args) => {
  const handle = await open(...args)
  places.set(handle.fd, String(args[0]))
  return handle
}

const [owner, name] = call.split('.')
if (owner === 'handle') {
  const handle = await open(new URL(import.meta.url), 'r')
  const methods = Object.getPrototypeOf(handle)
  methods[name] = failing(methods[name], true)
  await handle.close()
} else if (owner === 'promises') fs.promises[name] = failing(fs.promises[name], true)
else fs[call] = failing(fs[call], false)
syncBuiltinESMExports()
