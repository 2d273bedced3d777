import { addDecimals, compareDecimals, DECIMAL_SCALE, shiftPoint } from '../../candles/decimals.js'
import { ALWAYS_ON_GRID } from '../../candles/intervals.js'
import type { WindowSpan } from '../../candles/windows.js'
import {
  DECIMAL_BYTES,
  DECIMALS,
  DIGITS,
  LONG,
  NUMBERS_BYTES,
  NUMBERS_PER_ROW,
  OFFSETS_BYTES,
  OFFSETS_PER_ROW,
} from './assembly/layout.js'
import { KERNEL_BYTES } from './wasm-bytes.js'

/** The functions of ./assembly: arguments are addresses, sizes in bytes, numbers of rows, and times. */
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
  findOdd(from: number, rows: number, openTime: number, step: number, anchor: number): number
  findFaults(candle: number): number
  countEqual(from: number, other: number, rows: number): number
  writeRows(bytes: number, offsets: number, rows: number, program: number, count: number, to: number): number
}

/** Rows as bytes, with the place of every cell. */
export interface IndexedRows {
  /** The bytes that the offsets point into. */
  readonly bytes: Uint8Array
  /** 24 a row: start and end (exclusive) of each of the 12 cells, without quotes. */
  readonly offsets: Uint32Array
  /** 3 a row: open time, close time (ms UTC), number of trades. */
  readonly numbers: Float64Array
  /** In whose memory they lie until it reads another window; undefined for memory of their own. */
  readonly kernel?: Kernel | undefined
}

/** Addresses of rows in a kernel's memory; offsets count from `bytes`. */
export type RowAddress = Readonly<Record<'bytes' | 'offsets' | 'numbers', number>>

const PAGE_BYTES = 65_536
const MAX_PAGES = 65_536
/** Allocations start at multiples of this. */
const ALIGNMENT = 16

let compiled: WebAssembly.Module | undefined

/** The largest window of the service has 139,569 bytes. */
const FIRST_INPUT = 256 * 1024
/** Room for rows or values that a call writes. */
export const OUTPUT_BYTES = 512 * 1024
/** Room for the template of a row, or the summary of a column. */
const HEAD_BYTES = 8 * 1024
/** Bytes of the shortest row in the wire form: `[0,"1","1","1","1","1",0,"1",0,"1","1",""],`. */
const SHORTEST_ROW = 43

/**
 * A WebAssembly memory in which compiled functions index windows, read, add up and compare candles, and write rows. It has
 * room for one window at a time: each new one overwrites the window before.
 */
export class Kernel {
  readonly calls: KernelCalls
  private readonly memory = new WebAssembly.Memory({ initial: 1, maximum: MAX_PAGES })
  /** The whole memory. */
  view = new DataView(this.memory.buffer)
  /** Where free memory starts; the compiler uses the first page. */
  private free = PAGE_BYTES
  private input = { bytes: 0, size: 0, offsets: 0, numbers: 0 }
  private output = 0
  /** The texts that numbers stand for in candles. */
  readonly texts = ['0']
  private readonly textNumbers = new Map([['0', 0]])

  constructor() {
    compiled ??= new WebAssembly.Module(Buffer.from(KERNEL_BYTES, 'base64'))
    const candles = {
      longToNumber: (candle: number, place: number) => Number(this.decimal(candle, place)),
      isLessLong: (a: number, place: number, b: number, other: number) =>
        compareDecimals(this.decimal(a, place), this.decimal(b, other)) < 0,
      addLong: (to: number, from: number, place: number) =>
        this.storeLong(to, place, addDecimals(this.decimal(to, place), this.decimal(from, place))),
    }
    this.calls = new WebAssembly.Instance(compiled, { env: { memory: this.memory }, candles })
      .exports as unknown as KernelCalls
  }

  /**
   * Reserves `size` bytes for good and returns their address. Throws a RangeError beyond 4 GB. Growing detaches every view
   * of the memory.
   */
  allocate(size: number): number {
    const address = this.free
    this.free = address + Math.ceil(size / ALIGNMENT) * ALIGNMENT
    const { byteLength } = this.view
    if (this.free > byteLength) {
      // Doubles the memory, because each growth makes all views anew; pages that are never written to cost nothing.
      const most = MAX_PAGES * PAGE_BYTES - byteLength
      const more = Math.max(this.free - byteLength, Math.min(byteLength, most))
      this.memory.grow(Math.ceil(more / PAGE_BYTES))
      this.view = new DataView(this.memory.buffer)
    }
    return address
  }

  /** Frees what `action` allocated. */
  withScratch<T>(action: () => T): T {
    const { free } = this
    try {
      return action()
    } finally {
      this.free = free
    }
  }

  /** A buffer in this memory to read a file of `size` bytes into, which `index` then indexes in place. */
  buffer(size: number): Buffer {
    this.reserve(size)
    return Buffer.from(this.view.buffer, this.input.bytes, size)
  }

  /**
   * Indexes the rows of a window in the service's wire form, `[[0,"1.0",...],[...]]` without white space, exponents or
   * escapes. Returns undefined for anything else, legal or not, and for times outside of the window, the candle or the grid of
   * `step` ms counted from `anchor`; without a `step`, the caller checks these. Offsets and numbers lie in this memory.
   */
  index(bytes: Uint8Array, { startTime, endTime }: WindowSpan, step = 0, anchor = 0): IndexedRows | undefined {
    const isHere = bytes.buffer === this.view.buffer && bytes.byteOffset === this.input.bytes
    this.reserve(bytes.length)
    if (!isHere) new Uint8Array(this.view.buffer).set(bytes, this.input.bytes)
    const { bytes: address, offsets, numbers } = this.input
    const times = [startTime, endTime, step, anchor, ALWAYS_ON_GRID] as const
    const rows = this.calls.indexRows(address, bytes.length, ...times, offsets, numbers)
    if (rows < 0) return undefined
    const { buffer } = this.view
    return {
      bytes,
      offsets: new Uint32Array(buffer, offsets, rows * OFFSETS_PER_ROW),
      numbers: new Float64Array(buffer, numbers, rows * NUMBERS_PER_ROW),
    }
  }

  /** Addresses of rows, which are copied into this memory, over the last window, if they do not lie there. */
  addressOf({ bytes, offsets, numbers }: IndexedRows): RowAddress {
    if (bytes.buffer === this.view.buffer && offsets.buffer === this.view.buffer)
      return { bytes: bytes.byteOffset, offsets: offsets.byteOffset, numbers: numbers.byteOffset }
    this.reserve(Math.max(bytes.length, (offsets.length / OFFSETS_PER_ROW) * SHORTEST_ROW))
    const { buffer } = this.view
    new Uint8Array(buffer).set(bytes, this.input.bytes)
    new Uint32Array(buffer, this.input.offsets).set(offsets)
    new Float64Array(buffer, this.input.numbers).set(numbers)
    return this.input
  }

  /**
   * Has `call` write values or text to an address with room for OUTPUT_BYTES; it returns their end, and they are valid until
   * the next call. Before it, `head` is copied to the second address, and back afterwards: a template, or a summary.
   */
  write(head: Uint8Array, call: (calls: KernelCalls, to: number, head: number) => number): Uint8Array {
    const to = this.output + HEAD_BYTES
    new Uint8Array(this.view.buffer).set(head, this.output)
    const end = call(this.calls, to, this.output)
    head.set(new Uint8Array(this.view.buffer, this.output, head.length))
    return new Uint8Array(this.view.buffer, to, end - to)
  }

  text({ bytes, offsets }: RowAddress, row: number, column: number): string {
    const { view } = this
    const cell = offsets + row * OFFSETS_BYTES + 8 * column
    const [start, end] = [view.getUint32(cell, true), view.getUint32(cell + 4, true)]
    return Buffer.from(view.buffer, bytes + start, end - start).toString()
  }

  /** The decimal at a place of the candle at an address. */
  decimal(candle: number, place: number): string {
    const { view, texts } = this
    const address = candle + DECIMALS + place * DECIMAL_BYTES
    const digits = view.getUint8(candle + DIGITS + place)
    if (digits === LONG) return texts[view.getUint32(address, true)]
    const units = (view.getBigUint64(address + 8, true) << 64n) + view.getBigUint64(address, true)
    const text = shiftPoint(String(units), -DECIMAL_SCALE)
    return text.slice(0, digits === 0 ? -1 - DECIMAL_SCALE : text.length - DECIMAL_SCALE + digits)
  }

  /** Stores a decimal of any length. */
  storeLong(candle: number, place: number, text: string): void {
    this.view.setUint8(candle + DIGITS + place, LONG)
    this.view.setUint32(candle + DECIMALS + place * DECIMAL_BYTES, this.intern(text), true)
  }

  /** The number that stands for a text in candles; 0 for `0`. */
  intern(text: string): number {
    const known = this.textNumbers.get(text)
    if (known !== undefined) return known
    this.textNumbers.set(text, this.texts.length)
    return this.texts.push(text) - 1
  }

  /** Makes room for a window of `size` bytes, in place of the one before. */
  private reserve(size: number): void {
    if (size <= this.input.size) return
    // All at once: memory that grows later would take the views of a batch away.
    if (this.output === 0) this.output = this.allocate(HEAD_BYTES + OUTPUT_BYTES + ALIGNMENT)
    const room = Math.max(FIRST_INPUT, 2 * size)
    const rows = Math.ceil(room / SHORTEST_ROW)
    this.input = {
      // Digits are read by eights, also in front of a file; a zero behind it ends its last cell.
      bytes: this.allocate(ALIGNMENT + room + ALIGNMENT) + ALIGNMENT,
      size: room,
      offsets: this.allocate(rows * OFFSETS_BYTES),
      numbers: this.allocate(rows * NUMBERS_BYTES),
    }
  }
}

let shared: Kernel | undefined

/** For rows that lie in no memory of a kernel. Shared by all callers: finish with the result before the next `await`. */
export function sharedKernel(): Kernel {
  shared ??= new Kernel()
  return shared
}
