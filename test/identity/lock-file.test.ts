import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { encodeLock, type LockedSeries, parseLock, readLock } from '../../src/identity/lock-file.js'
import { tempFolder } from '../support/temp-folder.js'
import { thrownBy } from '../support/thrown-by.js'

/** Two lines of a real lock: its fingerprint was computed with sha256sum from the lines `klines 1 ...` and `2024 ...`. */
const SERIES = {
  candles: 2,
  fingerprint: 'klines:1:d9e102be0432b0b75665799153ffdc9836ac2bfcebe31f3d737e9651b201416d',
  firstOpenTime: 1735516800000,
  interval: '1d',
  lastOpenTime: 1735603200000,
  range: { from: 1735516800000, to: 1735689600000 },
  symbol: 'BTCUSDT',
  years: [{ candles: 2, sha256: 'cd8ff93276976a0858cf00888e087771edd65e63fe8d902ecfb6cf68f1208d6f', year: 2024 }],
}
const TEXT = `{
  "series": [
    ${JSON.stringify(SERIES)}
  ],
  "source": "https://example.com/klines",
  "version": 1
}
`
const parse = (text: string) => parseLock(Buffer.from(text))
const change = (changes: object) => JSON.stringify({ ...JSON.parse(TEXT), ...changes })
const changeSeries = (changes: object) => change({ series: [{ ...SERIES, ...changes }] })

describe('a lock', () => {
  it('is written in one form, keys and series sorted, and read as it was written', () => {
    const lock = parse(TEXT)
    const { years, range, ...rest } = lock.series[0]
    const shuffled = { years, ...rest, range: { to: range.to, from: range.from } }
    expect(encodeLock({ source: lock.source, series: [shuffled] }).toString()).toBe(TEXT)
    const other: LockedSeries = { ...lock.series[0], symbol: 'AAUSDT' }
    const two = (series: LockedSeries[]) => encodeLock({ source: null, series }).toString()
    expect(two([lock.series[0], other])).toBe(two([other, lock.series[0]]))
    expect(two([lock.series[0], other]).indexOf('AAUSDT')).toBeLessThan(two([other]).length)
  })

  it.each<[what: string, text: string, message: RegExp]>([
    ['a cut file', TEXT.slice(0, -30), /it is no JSON object/],
    ['a later version', change({ version: 2 }), /it is not of version 1, which this program reads/],
    [
      'a password',
      change({ source: 'https://me:secret@example.com' }),
      /a user name or password in it would be stored/i,
    ],
    ['another form', change({ source: 'https://EXAMPLE.com/' }), /Expected https:\/\/example\.com/],
    ['no series', change({ series: [] }), /it has no list of series/],
    ['a series twice', change({ series: [SERIES, SERIES] }), /BTCUSDT 1d is there twice/],
    ['a resampled series', changeSeries({ interval: '3h' }), /do not make its fingerprint/],
    ['another symbol', changeSeries({ symbol: 'ETHUSDT' }), /its values do not make its fingerprint/],
    [
      'another digest',
      changeSeries({ years: [{ ...SERIES.years[0], sha256: 'c'.repeat(64) }] }),
      /do not make its fin/,
    ],
    ['a range of nothing', changeSeries({ range: { from: 1735516800000, to: 1735603200000 } }), /do not fit together/],
    ['another count', changeSeries({ candles: 3 }), /its values do not make its fingerprint/],
    ['a first candle before its range', changeSeries({ firstOpenTime: 1735516799999 }), /do not fit together/],
    ['a first candle behind its last one', changeSeries({ firstOpenTime: 1735603200001 }), /do not fit together/],
    ['a range far ahead', changeSeries({ range: { ...SERIES.range, to: 9e15 } }), /do not fit together/],
  ])('is refused with %s', (_, text, message) => {
    const error = thrownBy(() => parse(text))
    expect(['bad_input', 'bad_base_url']).toContain(error.code)
    expect(error.message).toMatch(message)
    expect(error.message).not.toContain('secret')
  })

  it('is refused as a folder, a missing file, and bytes that are no text', async () => {
    const folder = tempFolder()
    const path = (name: string) => join(folder, name)
    mkdirSync(path('folder'))
    writeFileSync(path('bytes'), Buffer.from([0x7b, 0xff, 0x7d]))
    writeFileSync(path('good'), TEXT)
    await expect(readLock(path('folder'))).rejects.toThrow('cannot be read')
    await expect(readLock(path('none'))).rejects.toThrow('does not exist')
    await expect(readLock(path('bytes'))).rejects.toThrow('is no lock: it is no JSON object in UTF-8')
    await expect(readLock(path('good'))).resolves.toEqual(JSON.parse(TEXT.replace(',\n  "version": 1', '')))
  })
})
