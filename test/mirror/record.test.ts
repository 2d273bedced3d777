import {
  appendFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MirrorRecord, RECORD_FILE } from '../../src/mirror/record.js'
import { formatRecordLine, type RecordLine } from '../../src/mirror/record-lines.js'
import { catchError } from '../support/errors.js'
import { filesBelow } from '../support/files-below.js'
import { tempFolder } from '../support/temp-folder.js'

const NOW = 1_740_000_000_000
const path = (number: number) => `api/klines/1h/BTCUSDT/${2000 + number}-01-01.json`
const windowLine = (number: number, time = NOW): RecordLine & { kind: 'window' } => ({
  kind: 'window',
  path: path(number),
  size: number,
  sha256: number.toString(16).padStart(64, '0'),
  time,
  confirmed: time,
})
const text = (number: number, time?: number) => formatRecordLine(windowLine(number, time))
const open = (root: string) => new MirrorRecord(root, () => true)
const file = (root: string) => join(root, RECORD_FILE)
const sizes = (root: string) => [...open(root).allWindows.values()].map(({ size }) => size)

describe('the record of a mirror', () => {
  it('has the last line of each window, from any number of processes', () => {
    const root = tempFolder()
    const [a, b] = [open(root), open(root)]
    a.append(windowLine(1))
    b.append(windowLine(2))
    a.append(windowLine(1, NOW + 5))
    expect(open(root).window(path(1))).toMatchObject({ time: NOW + 5 })
    expect(b.window(path(1))).toMatchObject({ time: NOW })
    const state = b.refresh()
    expect(b.window(path(1))).toMatchObject({ time: NOW + 5 })
    expect(b.refresh()).toBe(state)
    a.append({ kind: 'candles', folder: 'api/klines/1h/BTCUSDT', firstOpenTime: 5, lastOpenTime: 7 })
    expect(b.refresh()).not.toBe(state)
    expect(b.seriesCandles({ symbol: 'BTCUSDT', interval: '1h' })).toMatchObject({ firstOpenTime: 5, lastOpenTime: 7 })
    expect(readFileSync(file(root), 'utf8').split('\n')).toHaveLength(5)
  })

  it('keeps every whole line, whatever is torn, and appends no line to a torn one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ number: fc.nat(9), cut: fc.option(fc.double({ min: 0, max: 0.999, noNaN: true })) })),
        lines => {
          const root = tempFolder()
          const expected = new Map<string, number>()
          for (const [time, { number, cut }] of lines.entries()) {
            const whole = text(number, NOW + time)
            if (cut === null) {
              open(root).append(windowLine(number, NOW + time))
              expected.set(path(number), NOW + time)
            } else appendFileSync(file(root), whole.slice(0, Math.floor(cut * (whole.length - 1))))
          }
          const found = [...open(root).allWindows.values()].map(({ path, time }) => [path, time])
          expect(new Map(found as [string, number][])).toEqual(expected)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('ignores unknown lines, binary ones and long ones, also those of many megabytes', () => {
    const root = tempFolder()
    const long = 'x'.repeat(3 * 1024 * 1024)
    const parts = [
      text(1),
      'later kind of line\n',
      long,
      '\n',
      text(2),
      '\0'.repeat(5000),
      '\n',
      text(3),
      '\n\n',
      text(4),
    ]
    writeFileSync(file(root), parts.join(''))
    expect(sizes(root)).toEqual([1, 2, 3, 4])
  })

  it('reads lines across the chunks of a long file, and of a huge one the end alone', () => {
    const root = tempFolder()
    const count = 12_000
    writeFileSync(file(root), Array.from({ length: count }, (_, number) => text(number)).join(''))
    expect(statSync(file(root)).size).toBeGreaterThan(1024 * 1024)
    expect(sizes(root)).toEqual(Array.from({ length: count }, (_, number) => number))
    truncateSync(file(root), 3 * 1024 ** 3)
    appendFileSync(file(root), `\n${text(5)}`)
    expect(sizes(root)).toEqual([5])
  })

  it.each<[string, (root: string) => void]>([
    ['a link to a file', root => [writeFileSync(join(root, 'other'), text(1)), symlinkSync('other', file(root))]],
    ['a link to nothing', root => symlinkSync('nowhere', file(root))],
    ['a folder', root => mkdirSync(file(root))],
  ])('is not read or written where %s is, and then stays in memory', async (_, make) => {
    const root = tempFolder()
    make(root)
    const before = filesBelow(root).map(name => lstatSync(join(root, name)).size)
    const record = open(root)
    expect(record.window(path(1))).toBeUndefined()
    expect(await catchError(() => record.append(windowLine(2)))).toMatchObject({
      code: 'mirror_unusable',
      message: expect.stringMatching(/^Cannot write \.klines-record of the mirror /),
    })
    expect(record.window(path(2))).toMatchObject({ size: 2 })
    expect(filesBelow(root).map(name => lstatSync(join(root, name)).size)).toEqual(before)
    expect(existsSync(join(root, 'nowhere'))).toBe(false)
  })

  it('does not change a file that has another name too: it may be a backup', () => {
    const root = tempFolder()
    open(root).append(windowLine(1))
    linkSync(file(root), join(root, 'backup'))
    const [a, b] = [open(root), open(root)]
    a.append(windowLine(2))
    b.append(windowLine(3))
    expect(readFileSync(join(root, 'backup'), 'utf8')).toBe(text(1))
    expect(sizes(root)).toEqual([1, 2, 3])
  })

  it('is written anew when most lines are replaced, and other processes go on with the new file', () => {
    const root = tempFolder()
    const lines = Array.from({ length: 25_000 }, (_, index) => text(index % 3, NOW + index))
    writeFileSync(file(root), lines.join(''))
    const [a, b] = [open(root), open(root)]
    expect([a, b].map(record => record.allWindows.size)).toEqual([3, 3])
    a.compact()
    expect(readFileSync(file(root), 'utf8').split('\n')).toHaveLength(4)
    b.append(windowLine(4))
    b.refresh()
    expect([...b.allWindows.values()].map(({ size, time }) => [size, time])).toEqual([
      [0, NOW + 24_999],
      [1, NOW + 24_997],
      [2, NOW + 24_998],
      [4, NOW],
    ])
    const before = statSync(file(root)).ino
    b.compact()
    expect(statSync(file(root)).ino).toBe(before)
  })

  it('belongs to a mirror: a folder that is none has no record', () => {
    const root = tempFolder()
    writeFileSync(file(root), text(1))
    const record = new MirrorRecord(root, () => false)
    expect(record.window(path(1))).toBeUndefined()
    record.remove()
    expect(filesBelow(root)).toEqual([])
    rmSync(root, { recursive: true })
    expect(open(root).window(path(1))).toBeUndefined()
  })

  it('of 20,000 windows takes little memory and time to read', () => {
    const root = tempFolder()
    const count = 20_000
    writeFileSync(file(root), Array.from({ length: count }, (_, number) => text(number)).join(''))
    const before = process.cpuUsage()
    const record = open(root)
    expect(record.allWindows.size).toBe(count)
    const { user, system } = process.cpuUsage(before)
    // Some 40 ms; a limit that only a mistake exceeds.
    expect((user + system) / 1000).toBeLessThan(1_000)
  })
})
