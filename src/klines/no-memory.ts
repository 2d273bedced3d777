import { KlinesError } from './errors.js'
import { trimPeriod } from './text.js'

/** Codes of errors for memory that the system did not give: of system calls, the name service, zlib, Node and worker threads. */
const CODES = new Set([
  'ENOMEM',
  'EAI_MEMORY',
  'Z_MEM_ERROR',
  'ERR_ZLIB_INITIALIZATION_FAILED',
  'ERR_MEMORY_ALLOCATION_FAILED',
  'ERR_WORKER_OUT_OF_MEMORY',
])

/**
 * V8 gives such errors no code: these are their texts. Its other RangeErrors (`Invalid array length`, `Maximum call stack size
 * exceeded`) are faults of a program.
 */
const TEXTS = [
  /^Array buffer allocation failed$/,
  /^WebAssembly\.\w+(\.grow)?\(\): (Out of memory\b|could not allocate memory$|Unable to grow instance memory$)/,
]

/** V8 reserves 10 GB of addresses for each memory of compiled code, however little of it is used. */
const ADDRESSES = /^WebAssembly\.(Memory|Instance)\(\): /
const MORE_ADDRESSES = [
  'Lift the limit on addresses (ulimit -v), or set NODE_OPTIONS=--disable-wasm-trap-handler.',
  'Each thread has memories of its own: --threads 1 takes the fewest.',
]
const MORE_MEMORY = [
  'Work on less at once (--threads 1, --concurrency 1), or give this process more memory: see the limits of its container and of ulimit.',
]

/**
 * The error `no_memory` for any error that says, or was caused by one that says, that the system gave no memory; undefined for
 * any other. Nothing is tried again after it, and no file, window or service is at fault.
 */
export function findNoMemory(error: unknown): KlinesError | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof KlinesError && error.code === 'no_memory') return error
  if (!isNoMemory(error)) return findNoMemory(error.cause)
  const needsAddresses = ADDRESSES.test(error.message)
  const what = needsAddresses ? 'no room for the memory of compiled code, 10 GB of addresses' : 'not enough memory'
  return new KlinesError('no_memory', `There is ${what}: ${trimPeriod(error.message)}.`, {
    cause: error,
    suggestions: needsAddresses ? MORE_ADDRESSES : MORE_MEMORY,
  })
}

/** For `catch`: throws `no_memory` for an error that `findNoMemory` knows. */
export function throwNoMemory(error: unknown): void {
  const noMemory = findNoMemory(error)
  if (noMemory) throw noMemory
}

function isNoMemory(error: Error): boolean {
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return CODES.has(code)
  return error instanceof RangeError && TEXTS.some(text => text.test(error.message))
}
