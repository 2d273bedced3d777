import { describe, expect, it } from 'vitest'
import { CandleTable } from '../../../src/rows/candle-table.js'
import type { KlineBatch } from '../../../src/rows/kline-batch.js'
import { Kernel } from '../../../src/rows/wasm/kernel.js'
import { decodeInPlace } from '../../../src/rows/window-codec.js'
import { LEAP_MONTH, sampleRow, toBatch, toJsonBytes } from '../../support/windows.js'

const { window, span } = LEAP_MONTH
const HOUR = 3_600_000

const someRows = (count: number, cells: Record<number, unknown> = {}) =>
  Array.from({ length: count }, (_, hour) => sampleRow(span.startTime + hour * HOUR, cells))

/** Copies the bytes of a window into a kernel's memory. */
function readInto(kernel: Kernel, bytes: Uint8Array): Buffer {
  const buffer = kernel.buffer(bytes.length)
  buffer.set(bytes)
  return buffer
}

describe('the memory of a kernel', () => {
  it('does not mix bytes of an earlier, longer file into a truncated one, wherever it is cut', () => {
    const kernel = new Kernel()
    const bytes = toJsonBytes(someRows(2))
    for (let end = 1; end < bytes.length; end++) {
      readInto(kernel, bytes)
      expect(kernel.index(readInto(kernel, bytes.subarray(0, end)), span), String(end)).toBeUndefined()
    }
    expect(kernel.index(readInto(kernel, bytes), span)?.numbers.length).toBe(2 * 3)
  })

  it('keeps the candles of tables that grow', () => {
    const kernel = new Kernel()
    const tables = [new CandleTable(kernel), new CandleTable(kernel)]
    for (let count = 1; count <= 600; count += 7) {
      for (const table of tables)
        table.add(decodeInPlace(readInto(kernel, toJsonBytes(someRows(count))), window, kernel))
    }
    for (const table of tables) {
      const volumes = Array.from({ length: table.length }, (_, row) => table.decimal(row, 4))
      expect(new Set(volumes)).toEqual(new Set(['1195.56000000']))
      expect(table.openTime(table.length - 1)).toBe(span.startTime + 595 * HOUR)
    }
  })

  it('accepts part of a batch from itself, from another kernel or from the JavaScript heap', () => {
    const rows = someRows(50).map((row, index) => sampleRow(row[0], { 5: `${index}.50000000` }))
    const readVolumes = (table: CandleTable) =>
      Array.from({ length: table.length }, (_, row) => Number(table.decimal(row, 4)) - 0.5)
    const sources: ((own: Kernel) => KlineBatch)[] = [
      own => decodeInPlace(readInto(own, toJsonBytes(rows)), window, own),
      own => decodeInPlace(toJsonBytes(rows), window, own),
      () => decodeInPlace(toJsonBytes(rows), window, new Kernel()),
      () => toBatch(rows, LEAP_MONTH),
    ]
    for (const source of sources) {
      const own = new Kernel()
      const table = new CandleTable(own)
      table.add(source(own).rows(10, 13))
      expect(readVolumes(table)).toEqual([10, 11, 12])
    }
  })
})
