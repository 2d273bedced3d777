// Preload: makes the k-th call fail that a program makes on files below a folder, or on its connections. Configured by
// KLINES_TEST_CALLS, such as {"folder":"/tmp/d","kind":"file","at":3,"fault":"ENOSPC","report":"/tmp/r.json"}:
// - kind: `file` (every call on a path or a descriptor), `room` (calls that need disk space), `bytes` (reads and
//   writes), `write` (writes only) or `net` (connect, write and read of a socket);
// - at: the index of the call, from 1; 0 for none. With `"lasting":true` every later call fails too;
// - fault: an error code, `short` (half is done and reported) or `lying` (half is written, but all is reported).
// When the program ends, the names and paths of the calls and the names of those that failed are written to `report`.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { resolve, sep } from 'node:path'

const { folder, kind, at, lasting = false, fault, report } = JSON.parse(process.env.KLINES_TEST_CALLS)
const { writeFileSync } = fs
const failed = []
/** The name and the path of each call. */
const calls = []
/** Set while a counted call runs: calls that it makes itself are not counted. */
let inside = false

process.on('exit', () => writeFileSync(report, JSON.stringify({ calls, failed })))

/** Counts a call; returns whether it must fail. */
function fails(name, kinds, path = '') {
  if (inside || !kinds.includes(kind)) return false
  calls.push(`${name} ${path}`)
  const isIt = at > 0 && (lasting ? calls.length >= at : calls.length === at)
  if (isIt) failed.push(name)
  return isIt
}

function errorOf(name) {
  return Object.assign(new Error(`${fault}: injected, ${name}`), { code: fault, syscall: name })
}

const isBelow = path => typeof path === 'string' && `${resolve(path)}${sep}`.startsWith(`${folder}${sep}`)
const wantsRoom = flags =>
  typeof flags === 'string' ? /[wa+x]/.test(flags) : (flags & (fs.constants.O_WRONLY | fs.constants.O_CREAT)) !== 0

/** The calls on paths, and whether a call needs disk space. */
const PATH_CALLS = {
  open: args => wantsRoom(args[1] ?? 'r'),
  mkdir: () => true,
  rename: () => true,
  link: () => true,
  unlink: () => false,
  readdir: () => false,
  readFile: () => false,
  stat: () => false,
  lstat: () => false,
  access: () => false,
  realpath: () => false,
  rm: () => false,
}
/** The calls on descriptors and handles. */
const FILE_CALLS = {
  read: ['file', 'bytes'],
  write: ['file', 'bytes', 'write', 'room'],
  fstat: ['file'],
  stat: ['file'],
  futimes: ['file'],
  chmod: ['file'],
  sync: ['file', 'room'],
  close: ['file'],
}

/** The paths of open files. */
const descriptors = new Map()
const handles = new WeakMap()

for (const [call, needsRoom] of Object.entries(PATH_CALLS)) {
  const kindsOf = args => (needsRoom(args) ? ['file', 'room'] : ['file'])
  const real = fs[`${call}Sync`]
  const wrapped = function (...args) {
    if (!isBelow(args[0])) return real.apply(this, args)
    if (fails(`${call}Sync`, kindsOf(args), args[0])) throw errorOf(call)
    const outer = inside
    inside = true
    try {
      const result = real.apply(this, args)
      if (call === 'open') descriptors.set(result, args[0])
      return result
    } finally {
      inside = outer
    }
  }
  fs[`${call}Sync`] = Object.assign(wrapped, real)

  const realPromise = fs.promises[call]
  fs.promises[call] = async function (...args) {
    if (!isBelow(args[0])) return realPromise.apply(this, args)
    if (fails(`promises.${call}`, kindsOf(args), args[0])) throw errorOf(call)
    const result = await realPromise.apply(this, args)
    if (call === 'open') watch(result, args[0])
    return result
  }
}

/** A failing call on an open file: the arguments it runs with, and what it reports. */
function halfOf([buffer, offset = 0, length = buffer.length - offset, ...rest]) {
  const half = Math.max(1, Math.floor(length / 2))
  return { given: [buffer, offset, Math.min(half, length), ...rest], claimed: fault === 'lying' ? length : undefined }
}
const isHalf = fault === 'short' || fault === 'lying'

for (const [call, kinds] of Object.entries(FILE_CALLS)) {
  const name = `${call}Sync`
  const real = fs[name]
  if (real === undefined || call === 'stat') continue
  fs[name] = (descriptor, ...args) => {
    if (!descriptors.has(descriptor)) return real(descriptor, ...args)
    const path = descriptors.get(descriptor)
    // A failing close has closed the descriptor, too.
    if (call === 'close') descriptors.delete(descriptor)
    if (!fails(name, kinds, path)) return real(descriptor, ...args)
    if (call === 'close') real(descriptor)
    if (!isHalf) throw errorOf(call)
    const { given, claimed } = halfOf(args)
    const done = real(descriptor, ...given)
    return claimed ?? done
  }
}

/** Counts the calls on an open file. A failing `close` has closed it, too. */
function watch(handle, path) {
  handles.set(handle, path)
  const { close } = handle
  handle.close = async () => {
    const isOpen = handles.delete(handle)
    const isToFail = isOpen && fails('handle.close', FILE_CALLS.close, path)
    await close()
    if (isToFail) throw errorOf('close')
  }
}

const probe = await fs.promises.open(new URL(import.meta.url), 'r')
const methods = Object.getPrototypeOf(probe)
await probe.close()
for (const [call, kinds] of Object.entries(FILE_CALLS)) {
  const real = methods[call]
  if (real === undefined || call === 'close') continue
  methods[call] = async function (...args) {
    if (!handles.has(this)) return real.apply(this, args)
    if (!fails(`handle.${call}`, kinds, handles.get(this))) return real.apply(this, args)
    if (!isHalf) throw errorOf(call)
    const { given, claimed } = halfOf(args)
    const result = await real.apply(this, given)
    return { ...result, bytesWritten: claimed ?? result.bytesWritten }
  }
}

const connections = new WeakSet()
const { connect, read, write } = net.Socket.prototype
/** Ends a socket as the system would. */
function breakDown(socket, name) {
  process.nextTick(() => socket.destroy(errorOf(name)))
}
net.Socket.prototype.connect = function (...args) {
  connections.add(this)
  if (!fails('connect', ['net'])) return connect.apply(this, args)
  breakDown(this, 'connect')
  return this
}
net.Socket.prototype.write = function (...args) {
  if (!connections.has(this) || !fails('write', ['net'])) return write.apply(this, args)
  breakDown(this, 'write')
  return false
}
net.Socket.prototype.read = function (...args) {
  if (!connections.has(this) || !fails('read', ['net'])) return read.apply(this, args)
  breakDown(this, 'read')
  return null
}
syncBuiltinESMExports()
