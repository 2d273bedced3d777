import { expect, it } from 'vitest'
import { CandleTable } from '../../src/rows/candle-table.js'
import { Kernel } from '../../src/rows/wasm/kernel.js'
import { WasmRowWriter } from '../../src/rows/wasm/row-writer.js'
import { decodeInPlace } from '../../src/rows/window-codec.js'
import { LEAP_MONTH, sampleRow, toJsonBytes } from '../support/windows.js'

const { window, span } = LEAP_MONTH

it('a batch in the memory of a kernel stays as it is while tables and rows are built from it', () => {
  const kernel = new Kernel()
  const rows = Array.from({ length: 600 }, (_, hour) => sampleRow(span.startTime + hour * 3_600_000, { 1: '1.5' }))
  const bytes = toJsonBytes(rows)
  const buffer = kernel.buffer(bytes.length)
  buffer.set(bytes)
  const batch = decodeInPlace(buffer, window, kernel)
  expect(batch.kernel).toBe(kernel)
  new CandleTable(new Kernel()).add(batch)
  let text = ''
  const append = (bytes: Uint8Array) => {
    text += Buffer.from(bytes).toString()
  }
  new WasmRowWriter([{ literal: '', column: 1 }], '\n').write(batch, append)
  expect(text).toBe('1.5\n'.repeat(600))
  expect(batch.row(599)).toEqual(rows[599])
})
