import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { KlineBatch } from '../../../src/klines/batch/kline-batch.js'
import { BorrowedBatch, borrowWindow } from '../../../src/klines/batch/window-codec.js'
import { CandleTable } from '../../../src/klines/kernel/candle-table.js'
import { Kernel } from '../../../src/klines/kernel/kernel.js'
import { WasmRowWriter } from '../../../src/klines/kernel/row-writer.js'
import { windowPath } from '../../../src/klines/paths.js'
import type { WindowRef } from '../../../src/klines/series.js'
import { Mirror } from '../../../src/mirror/mirror.js'
import { tempFolder } from '../../support/temp-folder.js'
import { LEAP_MONTH, sampleRow, toJsonBytes } from '../../support/windows.js'

const { window, span } = LEAP_MONTH
const OTHER: WindowRef = { ...window, symbol: 'ETHUSDT' }
const HOUR = 3_600_000

/** Rows of a window with one opening price. */
function rowsAt(price: string, count = 3): Uint8Array {
  return toJsonBytes(Array.from({ length: count }, (_, hour) => sampleRow(span.startTime + hour * HOUR, { 1: price })))
}

function borrow(kernel: Kernel, bytes: Uint8Array): KlineBatch {
  const buffer = kernel.buffer(bytes.length)
  buffer.set(bytes)
  return borrowWindow(buffer, window, kernel)
}

const STALE = /A borrowed batch of BTCUSDT 1h is no longer valid/

/** Every way to read a batch. */
const ACCESSES: [string, (batch: KlineBatch) => unknown][] = [
  ['slice', batch => batch.slice(span.startTime, span.endTime - HOUR)],
  ['rows', batch => batch.rows(0, 1)],
  ['row', batch => batch.row(0)],
  ['text', batch => batch.text(0, 1)],
  ['openTime', batch => batch.openTime(0)],
  ['bytes', batch => batch.bytes],
  ['toOwned', batch => batch.toOwned()],
  ['a table', batch => new CandleTable(new Kernel()).add(batch)],
  ['a row writer', batch => WasmRowWriter.create([{ literal: '', column: 1 }], '\n')?.write(batch, () => {})],
]

describe('a borrowed batch', () => {
  it('throws after its mirror has read another window, instead of returning the prices of that', () => {
    const root = tempFolder()
    for (const [ref, price] of [
      [window, '1.5'],
      [OTHER, '2.5'],
    ] as const) {
      const path = join(root, windowPath(ref))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, rowsAt(price))
    }
    const mirror = new Mirror(root)
    const first = mirror.windows.borrow(window)
    if (first.state !== 'cached') throw new Error('Expected the window to be cached.')
    expect(first.batch).toBeInstanceOf(BorrowedBatch)
    expect(first.batch.text(0, 1)).toBe('1.5')
    const slice = first.batch.rows(1, 2)
    const owned = first.batch.toOwned()
    expect(mirror.windows.borrow(OTHER)).toMatchObject({ state: 'cached' })
    expect(() => first.batch.text(0, 1)).toThrow(STALE)
    expect(() => slice.text(0, 1)).toThrow(STALE)
    expect(owned.text(0, 1)).toBe('1.5')
  })

  it.each(ACCESSES)('is valid until its kernel reads another window, then %s throws', (_, access) => {
    const kernel = new Kernel()
    const batch = borrow(kernel, rowsAt('1.5'))
    expect(() => access(batch)).not.toThrow()
    borrow(kernel, rowsAt('2.5'))
    expect(() => access(batch)).toThrow(STALE)
  })

  it.each(ACCESSES)(
    'is valid until the memory of its kernel grows, then %s throws instead of returning no rows',
    (_, access) => {
      const kernel = new Kernel()
      const batch = borrow(kernel, rowsAt('1.5'))
      const { epoch } = kernel
      while (kernel.epoch === epoch) kernel.allocate(64 * 1024)
      expect(batch.length).toBe(3)
      expect(() => access(batch)).toThrow(STALE)
    },
  )

  it('stays valid while tables and rows are built from it', () => {
    const kernel = new Kernel()
    const batch = borrow(kernel, rowsAt('1.5', 600))
    new CandleTable(new Kernel()).add(batch)
    let text = ''
    const append = (bytes: Uint8Array) => {
      text += Buffer.from(bytes).toString()
    }
    WasmRowWriter.create([{ literal: '', column: 1 }], '\n')?.write(batch, append)
    expect(text).toBe('1.5\n'.repeat(600))
    expect(batch.text(599, 1)).toBe('1.5')
  })

  it('has the same rows as its copy', () => {
    const batch = borrow(new Kernel(), rowsAt('1.5')).rows(1, 3)
    const owned = batch.toOwned()
    expect(owned).not.toBeInstanceOf(BorrowedBatch)
    expect(owned.toOwned()).toBe(owned)
    expect([owned.row(0), owned.row(1), owned.series]).toEqual([batch.row(0), batch.row(1), batch.series])
  })
})
