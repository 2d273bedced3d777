import { KERNEL_BYTES } from './wasm-bytes.js'

/** The functions of ./assembly. All arguments but times and counts are addresses, sizes in bytes and numbers of rows. */
export interface KernelCalls {
  indexRows(
    bytes: number,
    length: number,
    startTime: number,
    endTime: number,
    step: number,
    origin: number,
    onGridFrom: number,
    offsets: number,
    numbers: number,
  ): number
  readCandles(bytes: number, offsets: number, numbers: number, rows: number, to: number): number
  readIntegers(numbers: number, rows: number, to: number, summary: number): number
  readDoubles(bytes: number, cells: number, rows: number, to: number, summary: number): number
  readDecimals(bytes: number, cells: number, rows: number, to: number, summary: number, isBigEndian: number): number
  beginCandle(to: number, openTime: number): void
  addCandles(to: number, from: number, rows: number): void
  groupCandles(from: number, rows: number, step: number, anchor: number, to: number): number
  writeRows(bytes: number, offsets: number, rows: number, program: number, count: number, to: number): number
  writeLines(bytes: number, offsets: number, rows: number, to: number): number
}

const PAGE_BYTES = 65_536
const MAX_PAGES = 65_536
/** Allocations start at multiples of this. */
export const ALIGNMENT = 16

let compiled: WebAssembly.Module | undefined

/** One WebAssembly memory with the compiled functions that work on it. Memory is allocated from its start and never freed. */
export class SharedMemory {
  readonly calls: KernelCalls
  private readonly memory = new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES })
  private dataView = new DataView(this.memory.buffer)
  /** Where free memory starts; the compiler uses the first page. */
  private free = PAGE_BYTES

  constructor() {
    compiled ??= new WebAssembly.Module(Buffer.from(KERNEL_BYTES, 'base64'))
    this.calls = new WebAssembly.Instance(compiled, { env: { memory: this.memory } }).exports as unknown as KernelCalls
  }

  /** The whole memory. */
  get view(): DataView<ArrayBuffer> {
    if (this.dataView.buffer !== this.memory.buffer) this.dataView = new DataView(this.memory.buffer)
    return this.dataView
  }

  /**
   * Reserves `size` bytes for good and returns their address. Pages that are never written to cost nothing. Throws a
   * RangeError beyond 4 GB. Growing detaches every view of the memory.
   */
  allocate(size: number): number {
    const address = this.free
    this.free = address + Math.ceil(size / ALIGNMENT) * ALIGNMENT
    const { byteLength } = this.memory.buffer
    if (this.free > byteLength) {
      // Doubles the memory, because each growth makes all views anew.
      const most = MAX_PAGES * PAGE_BYTES - byteLength
      const more = Math.max(this.free - byteLength, Math.min(byteLength, most))
      this.memory.grow(Math.ceil(more / PAGE_BYTES))
    }
    return address
  }

  /** Runs `action` and frees what it allocated. */
  withScratch<T>(action: () => T): T {
    const { free } = this
    try {
      return action()
    } finally {
      this.free = free
    }
  }
}
