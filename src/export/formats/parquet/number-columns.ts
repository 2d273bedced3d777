import type { Column, FixedColumn } from '../columns.js'
import { WORDS_PER_DECIMAL } from '../decimal-columns.js'
import { releaseBuffer, takeBuffer } from '../spare-buffers.js'
import type { Bound, Page, PageColumn } from './page.js'

const WORD = 2 ** 32

/** A column of values of one size. PLAIN is their bytes, one after the other. */
abstract class NumberColumn<T extends Uint32Array | Float64Array | BigInt64Array> implements PageColumn {
  /** The column is filled again while this is compressed. */
  private readonly page: Uint8Array<ArrayBuffer>

  constructor(
    private readonly column: FixedColumn<T>,
    rows: number,
    private readonly valueBytes: number,
  ) {
    this.page = new Uint8Array(takeBuffer(rows * valueBytes))
  }

  append(...rows: Parameters<Column['append']>): void {
    this.column.append(...rows)
  }

  takePage(length: number): Page {
    const values = this.column.values(length)
    const bytes = this.page.subarray(0, length * this.valueBytes)
    this.encode(values, bytes)
    return { bytes, encoding: 'PLAIN', values: length, ...this.findBounds(values) }
  }

  release(): void {
    this.column.release()
    releaseBuffer(this.page.buffer)
  }

  protected abstract findBounds(values: T): { min: Bound; max: Bound }

  protected encode({ buffer, byteOffset, byteLength }: T, bytes: Uint8Array): void {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength))
  }
}

/** Times in ms UTC, and counts. */
export class Int64Column extends NumberColumn<BigInt64Array> {
  protected findBounds({ buffer, length }: BigInt64Array) {
    // As doubles, which hold these integers: comparing a BigInt for each value takes several times as long.
    const [low, high] = [new Uint32Array(buffer), new Int32Array(buffer)]
    let [min, max] = [Infinity, -Infinity]
    for (let word = 0; word < 2 * length; word += 2) {
      const value = high[word + 1] * WORD + low[word]
      if (value < min) min = value
      if (value > max) max = value
    }
    return { min: BigInt(min), max: BigInt(max) }
  }
}

export class Float64Column extends NumberColumn<Float64Array> {
  protected findBounds(values: Float64Array) {
    let [min, max] = [Infinity, 0]
    for (const value of values) {
      if (value < min) min = value
      if (value > max) max = value
    }
    // Readers may take a zero for either one, so the format requires the lower one here.
    return { min: min === 0 ? -0 : min, max }
  }
}

/** DECIMAL(38,8): 16 bytes, big-endian. */
export class Decimal128Column extends NumberColumn<Uint32Array> {
  protected findBounds(words: Uint32Array) {
    let [min, max] = [0, 0]
    for (let word = 0; word < words.length; word += WORDS_PER_DECIMAL) {
      if (isLess(words, word, min)) min = word
      if (isLess(words, max, word)) max = word
    }
    return { min: toBigInt(words, min), max: toBigInt(words, max) }
  }

  protected override encode(words: Uint32Array, bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer)
    for (let word = 0; word < words.length; word += WORDS_PER_DECIMAL) {
      for (let i = 0; i < WORDS_PER_DECIMAL; i++) view.setUint32(4 * (word + i), words[word + 3 - i])
    }
  }
}

/** Compares two decimals, which are not negative, by the indexes of their lowest words. */
function isLess(words: Uint32Array, a: number, b: number): boolean {
  for (let i = WORDS_PER_DECIMAL - 1; i > 0; i--) if (words[a + i] !== words[b + i]) return words[a + i] < words[b + i]
  return words[a] < words[b]
}

function toBigInt(words: Uint32Array, word: number): bigint {
  return words.subarray(word, word + WORDS_PER_DECIMAL).reduceRight((value, part) => (value << 32n) | BigInt(part), 0n)
}
