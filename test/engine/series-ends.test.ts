import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { findFirst } from '../../src/download/series-ends.js'
import type { Interval } from '../../src/klines/intervals.js'
import { Mirror } from '../../src/mirror/mirror.js'
import { tempFolder } from '../support/temp-folder.js'

const LENGTHS = { '1h': 3_600_000, '1d': 86_400_000 }

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

it('the first candle of a series is the first one of its first window with candles', () => {
  const windows = [
    ['1h', '2021-12-01'],
    ['1h', '2022-01-01', '2022-01-09T05:00Z'],
    ['1h', '2022-02-01', '2022-02-01T00:00Z'],
    ['1d', '2016-01-01', '2017-08-17'],
  ] as const
  const mirror = makeMirror('PEPEUSDT', windows)
  const first = (interval: Interval) => findFirst(mirror, { symbol: 'PEPEUSDT', interval })
  expect([first('1h'), first('1d'), first('4h')]).toEqual([
    Date.parse('2022-01-09T05:00Z'),
    Date.parse('2017-08-17'),
    undefined,
  ])
})

it('a window may begin with a byte order mark; a corrupt one says nothing', () => {
  const mirror = makeMirror('PEPEUSDT', [['1h', '2022-01-01', '2022-01-09T05:00Z']])
  const path = join(mirror.root, 'api/klines/1h/PEPEUSDT/2022-01-01.json')
  const series = { symbol: 'PEPEUSDT', interval: '1h' } as const
  writeFileSync(path, `\ufeff${readFileSync(path, 'utf8')}`)
  expect(findFirst(mirror, series)).toBe(Date.parse('2022-01-09T05:00Z'))
  writeFileSync(path, '[[1,"junk"')
  expect(findFirst(mirror, series)).toBeUndefined()
})
