import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { windowPath } from '../../../src/klines/paths.js'
import { Mirror } from '../../../src/mirror/mirror.js'
import { FileCache } from '../../../src/server/tree/file-cache.js'
import { putFile } from '../../support/synthetic-tree.js'

const FIRST_WEEK = Date.UTC(2025, 0, 6)
const [DAY, QUARTER] = [86_400_000, 900_000]

/** A window of 672 candles whose decimals have 180 digits that do not repeat: some 1 MB. */
function largeWindow(index: number): { startDate: string; rows: unknown[] } {
  const startTime = FIRST_WEEK + index * 7 * DAY
  const rows = Array.from({ length: 672 }, (_, row) => {
    const openTime = startTime + row * QUARTER
    const number = (column: number) => {
      const seed = createHash('sha512').update(`${openTime} ${column}`).digest('hex')
      return `1.${BigInt(`0x${seed}${seed}`).toString().slice(0, 180)}`
    }
    const [open, high, low, close, volume, quote, buy, buyQuote] = Array.from({ length: 8 }, (_, column) =>
      number(column),
    )
    return [openTime, open, high, low, close, volume, openTime + QUARTER - 1, quote, 1, buy, buyQuote, '0']
  })
  return { startDate: new Date(startTime).toISOString().slice(0, 10), rows }
}

describe('the cache of a server', () => {
  const root = mkdtempSync(join(tmpdir(), 'klines-cache-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  let all: string[]
  beforeAll(() => {
    all = Array.from({ length: 50 }, (_, index) => {
      const { startDate, rows } = largeWindow(index)
      const path = windowPath({ symbol: 'BTCUSDT', interval: '15m', startDate })
      putFile(root, path, rows)
      return path
    })
  })

  /** The paths of that many windows, and an empty cache. */
  const setup = (count: number) => ({
    paths: all.slice(0, count),
    cache: new FileCache(new Mirror(root), new Map(), warning => expect.unreachable(warning)),
  })

  it('keeps 40 MB of windows that are requested in turn', () => {
    const { paths, cache } = setup(40)
    const files = paths.map(path => cache.get(path))
    expect(files.every(file => file?.state === 'valid')).toBe(true)
    expect(paths.map((path, index) => cache.get(path) === files[index])).toEqual(paths.map(() => true))
  })

  it('counts what clients get compressed', async () => {
    const { paths, cache } = setup(50)
    const files = paths.map(path => cache.get(path))
    for (const file of files) if (file?.state === 'valid') await file.body.in('gzip')
    const kept = paths.filter((path, index) => cache.get(path) === files[index])
    expect(kept.length).toBeLessThan(paths.length)
  })
})
