import { KlinesError } from '../errors.js'
import { KERNEL_BYTES } from './wasm-bytes.js'

/** What src/kernel exports. All but times and counts are addresses, sizes in bytes and numbers of rows. */
export interface KernelCalls {
  indexRows(bytes: number, length: number, startTime: number, endTime: number, offsets: number, numbers: number): number
  readCandles(bytes: number, offsets: number, numbers: number, rows: number, to: number): number
  beginCandle(to: number, openTime: number): void
  addCandles(to: number, from: number, rows: number): void
  groupCandles(from: number, rows: number, step: number, anchor: number, to: number): number
  compareCandles(expected: number, expectedRows: number, actual: number, actualRows: number, to: number): number
  comparedCandles(from: number, rows: number): number
  writeRows(bytes: number, offsets: number, rows: number, program: number, count: number, to: number): number
  findAnomalies(from: number, rows: number, step: number, anchor: number, to: number): number
}

const PAGE = 65_536
const MAX_PAGES = 65_536
/** What is allocated begins at a multiple of it. */
export const MARGIN = 16

let compiled: WebAssembly.Module | undefined

/** Whose a memory is. */
const owners = new WeakMap<ArrayBufferLike, SharedMemory>()

/** One memory that TypeScript and the compiled loops of src/kernel share, and these loops. */
export class SharedMemory {
  readonly calls: KernelCalls
  private readonly memory = newMemory()
  private dataView = new DataView(this.memory.buffer)
  /** Where free memory begins; the first page is the compiler's. */
  private free = PAGE

  constructor() {
    compiled ??= new WebAssembly.Module(Buffer.from(KERNEL_BYTES, 'base64'))
    this.calls = new WebAssembly.Instance(compiled, { env: { memory: this.memory } }).exports as KernelCalls
    owners.set(this.memory.buffer, this)
  }

  /** Whose memory this is; undefined also for one that has grown since. */
  static owner(buffer: ArrayBufferLike): SharedMemory | undefined {
    return owners.get(buffer)
  }

  /** The whole memory. */
  get view(): DataView<ArrayBuffer> {
    if (this.dataView.buffer !== this.memory.buffer) this.dataView = new DataView(this.memory.buffer)
    return this.dataView
  }

  /** Room for so many bytes, for good; memory that is not written to costs nothing. Throws a RangeError beyond 4 GB. */
  allocate(size: number): number {
    const at = this.free
    this.free = at + Math.ceil(size / MARGIN) * MARGIN
    const { buffer } = this.memory
    if (this.free > buffer.byteLength) {
      // Twice as much at once: each time makes all views anew.
      const most = MAX_PAGES * PAGE - buffer.byteLength
      const more = Math.max(this.free - buffer.byteLength, Math.min(buffer.byteLength, most))
      this.memory.grow(Math.ceil(more / PAGE))
      owners.delete(buffer)
      owners.set(this.memory.buffer, this)
    }
    return at
  }

  /** Runs `action` and takes back what it has allocated. */
  withScratch<T>(action: () => T): T {
    const { free } = this
    try {
      return action()
    } finally {
      this.free = free
    }
  }
}

/** V8 keeps 10 GB of addresses for each, however little is used. */
function newMemory(): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES })
  } catch (cause) {
    throw new KlinesError('no_memory', 'There is no room for the memory of compiled code: 10 GB of addresses.', {
      cause,
      suggestions: ['Lift the limit on addresses (ulimit -v), or set NODE_OPTIONS=--disable-wasm-trap-handler.'],
    })
  }
}
