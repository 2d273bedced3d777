import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { findListing } from '../../src/download/listing.js'
import type { Interval } from '../../src/klines/intervals.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { tempFolder } from '../support/temp-folder.js'

const LENGTHS = { '1h': 3_600_000, '4h': 4 * 3_600_000, '1d': 86_400_000, '1M': 31 * 86_400_000 }

/** A bare folder with windows of a symbol, each empty or with one candle, which opens at a time. */
function makeMirror(symbol: string, windows: readonly (readonly [keyof typeof LENGTHS, string, string?])[]): Mirror {
  const root = tempFolder()
  for (const [interval, startDate, openTime] of windows) {
    const time = openTime === undefined ? undefined : Date.parse(openTime)
    const cells = ['1', '1', '1', '1', '0', (time ?? 0) + LENGTHS[interval] - 1, '0', 0, '0', '0', '0']
    const path = join(root, 'api/klines', interval satisfies Interval, symbol, `${startDate}.json`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(time === undefined ? [] : [[time, ...cells]]))
  }
  return new Mirror(root)
}

it.each<[string, [keyof typeof LENGTHS, string, string?][], string | undefined, boolean]>([
  ['of nothing', [], undefined, false],
  [
    'unknown where no window has room before the first candle',
    [['1h', '2022-01-01', '2022-01-01T00:00Z']],
    '2022-01-01',
    false,
  ],
  ['known where the window begins earlier', [['1h', '2022-01-01', '2022-01-09T05:00Z']], '2022-01-09T05:00Z', true],
  [
    'known where an earlier window is empty',
    [
      ['1h', '2021-12-01'],
      ['1h', '2022-01-01', '2022-01-01T00:00Z'],
    ],
    '2022-01-01',
    true,
  ],
  [
    'of the longer candle when a series begins after it has ended',
    [
      ['1h', '2022-01-01', '2022-01-01T00:00Z'],
      ['1M', '2010-01-01', '2017-08-01'],
    ],
    '2017-08-01',
    true,
  ],
  [
    'of the shortest one of the candles that were open at once: months and days open before the listing',
    [
      ['1M', '2010-01-01', '2017-08-01'],
      ['1d', '2016-01-01', '2017-08-17'],
      ['4h', '2017-07-01', '2017-08-17T04:00Z'],
    ],
    '2017-08-17T04:00Z',
    true,
  ],
])('the listing is that %s', (_, windows, time, isFirst) => {
  const earliest = time === undefined ? undefined : Date.parse(time)
  expect(findListing(makeMirror('PEPEUSDT', windows), 'PEPEUSDT')).toEqual({ earliest, isFirst })
})

it('a window may begin with a byte order mark', () => {
  const mirror = makeMirror('PEPEUSDT', [['1h', '2022-01-01', '2022-01-09T05:00Z']])
  const path = join(mirror.root, 'api/klines/1h/PEPEUSDT/2022-01-01.json')
  writeFileSync(path, `\ufeff${readFileSync(path, 'utf8')}`)
  expect(findListing(mirror, 'PEPEUSDT')).toEqual({ earliest: Date.parse('2022-01-09T05:00Z'), isFirst: true })
})

it('a corrupt window says nothing about the listing', () => {
  const mirror = makeMirror('PEPEUSDT', [['1d', '2024-01-01', '2024-03-05']])
  const path = join(mirror.root, 'api/klines/1h/PEPEUSDT/2022-01-01.json')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '[[1,"junk"')
  expect(findListing(mirror, 'PEPEUSDT').earliest).toBe(Date.parse('2024-03-05'))
})

it('the listing of the ten symbols is known without a candle, to the day', () => {
  const listed = Date.parse('2020-08-11')
  expect(findListing(makeMirror('SOLUSDT', []), 'SOLUSDT')).toEqual({ earliest: listed, isFirst: true })
  const windows = [['4h', '2020-07-01', '2020-08-11T04:00Z']] as const
  const found = findListing(makeMirror('SOLUSDT', windows), 'SOLUSDT')
  expect(found).toEqual({ earliest: Date.parse('2020-08-11T04:00Z'), isFirst: true })
})
