// Makes calls of node:fs fail. For example, {"call":"writeFileSync","at":3,"times":1,"code":"EIO","path":"m/api"} fails the third call
// whose path contains `path`. A list of such objects makes several calls fail. `handle.sync` and `handle.write` are the methods of
// files that `node:fs/promises` opened. In this process, `seen` gets the path of each such call.
// As a preload of a process it reads KLINES_TEST_FAIL, for each of its threads, or with "in":"workers" for all but the main one. There the code SIGKILL kills the process, after half of a write; with
// another signal the call is made, and the signal sent.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

/** The paths of open files by descriptor. */
const paths = new Map()

function failing(real, isAsync, { call, at = 1, times = Number.POSITIVE_INFINITY, code, path, seen }) {
  let calls = 0
  return function (...args) {
    const file =
      typeof args[0] === 'number' ? paths.get(args[0]) : typeof args[0] === 'string' ? args[0] : paths.get(this?.fd)
    const matches = path === undefined || file?.includes(path)
    if (matches) seen?.push(file)
    if (!matches || ++calls < at || calls >= at + times) return real.apply(this, args)
    if (code === 'SIGKILL') {
      if (call.endsWith('write') || call === 'writeFileSync') writeHalf(this, args)
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
  const half = bytes.subarray(0, bytes.length >> 1)
  if (typeof args[0] === 'string') writeFileSync(args[0], half)
  else writeSync(self.fd, half)
}

const { writeFileSync, writeSync } = fs
const { open } = fs.promises

/** The prototype of open files. */
const handles = await (async () => {
  const handle = await open(new URL(import.meta.url), 'r')
  try {
    return Object.getPrototypeOf(handle)
  } finally {
    await handle.close()
  }
})()

/** Makes calls fail from now on; returns a function that ends this. */
export function failCalls(faults) {
  const restores = []
  const replace = (owner, name, value) => {
    const real = owner[name]
    owner[name] = value(real)
    restores.push(() => {
      owner[name] = real
    })
  }
  replace(fs, 'openSync', real => (...args) => {
    const descriptor = real(...args)
    paths.set(descriptor, String(args[0]))
    return descriptor
  })
  replace(fs.promises, 'open', real => async (...args) => {
    const handle = await real(...args)
    paths.set(handle.fd, String(args[0]))
    return handle
  })
  for (const fault of faults) {
    const [owner, name = owner] = fault.call.split('.')
    if (owner === 'handle') replace(handles, name, real => failing(real, true, fault))
    else if (owner === 'promises') replace(fs.promises, name, real => failing(real, true, fault))
    else replace(fs, name, real => failing(real, false, fault))
  }
  syncBuiltinESMExports()
  return () => {
    for (const restore of restores.toReversed()) restore()
    syncBuiltinESMExports()
    paths.clear()
  }
}

if (process.env.KLINES_TEST_FAIL) {
  const faults = [JSON.parse(process.env.KLINES_TEST_FAIL)].flat()
  failCalls(faults.filter(fault => !(isMainThread && fault.in === 'workers')))
}
