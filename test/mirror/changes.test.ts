import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { appendChanges, CHANGES_FILE, listChanges, type RecordedChange } from '../../src/mirror/changes.js'
import { catchError } from '../support/errors.js'
import { tempFolder } from '../support/temp-folder.js'

const OPEN = Date.UTC(2025, 9, 10, 21)
const WINDOW = { symbol: 'BTCUSDT', interval: '1h', startDate: '2025-10-01' } as const
const change = (number: number, values: Partial<RecordedChange> = {}): RecordedChange => ({
  time: 1_764_000_000_000 + number,
  ...WINDOW,
  openTime: OPEN,
  column: 'close',
  before: `${number}.00000000`,
  after: `${number + 1}.00000000`,
  ...values,
})
const file = (root: string) => join(root, CHANGES_FILE)
const lines = (root: string) => readFileSync(file(root), 'utf8').trimEnd().split('\n')
const read = (root: string): RecordedChange[] => lines(root).map(line => JSON.parse(line))

describe('the changes of a mirror', () => {
  it('are a line for each cell, in the order in which they were seen', () => {
    const root = tempFolder()
    appendChanges(root, [change(1), change(1, { column: 'volume' })])
    appendChanges(root, [change(2)])
    expect(readFileSync(file(root), 'utf8').split('\n')[0]).toBe(
      `{"time":1764000000001,"symbol":"BTCUSDT","interval":"1h","startDate":"2025-10-01","openTime":${OPEN},"column":"close","before":"1.00000000","after":"2.00000000"}`,
    )
    expect(read(root)).toEqual([change(1), change(1, { column: 'volume' }), change(2)])
  })

  it('begin a line of their own after a torn one, wherever that ends', () => {
    const line = `${JSON.stringify(change(9))}\n`
    for (let length = 1; length < line.length - 1; length += 7) {
      const root = tempFolder()
      writeFileSync(file(root), line.slice(0, length))
      appendChanges(root, [change(1), change(2)])
      expect(lines(root)).toEqual([line.slice(0, length), JSON.stringify(change(1)), JSON.stringify(change(2))])
    }
  })

  it.each<[string, (root: string) => void]>([
    ['a link', root => [writeFileSync(join(root, 'other'), ''), symlinkSync('other', file(root))]],
    ['a folder', root => mkdirSync(file(root))],
  ])('are not written through %s', async (kind, make) => {
    const root = tempFolder()
    make(root)
    expect(await catchError(() => appendChanges(root, [change(1)]))).toMatchObject({ code: 'mirror_unusable' })
    if (kind === 'a link') expect(statSync(join(root, 'other')).size).toBe(0)
  })
})

describe('what a new version of a window changes', () => {
  it('are its cells and the candles that it adds before the last cached one, by open time', () => {
    const cell = { openTime: OPEN, column: 'close', before: '1', after: '2' } as const
    const HOUR = 3_600_000
    const diff = { lost: [], added: [OPEN - HOUR, OPEN + HOUR], changed: [cell] }
    expect(listChanges(WINDOW, diff, OPEN, 5)).toEqual([
      { time: 5, ...WINDOW, openTime: OPEN - HOUR, column: 'open_time', before: null, after: String(OPEN - HOUR) },
      { time: 5, ...WINDOW, ...cell },
    ])
    expect(listChanges(WINDOW, { ...diff, changed: [] }, undefined, 5)).toEqual([])
  })
})
