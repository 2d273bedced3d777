import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { KlineRow } from '../../src/candles/columns.js'
import { windowPath } from '../../src/candles/paths.js'
import { windowSpan } from '../../src/candles/windows.js'
import { checkLock, type LockCheckRequest } from '../../src/identity/check-lock.js'
import { type LockRequest, lockKlines } from '../../src/identity/lock.js'
import { sha256 } from '../../src/rows/fingerprint.js'
import { onWarning } from '../support/events.js'
import { candleLine, fingerprintOf } from '../support/oracles/fingerprint-oracle.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'
import { sampleRow } from '../support/windows.js'

const [HOUR, DAY] = [3_600_000, 86_400_000]
const SOURCE = 'https://mirror.example'
const SERIES = { symbol: 'BTCUSDT', interval: '1h' } as const
const MONTHS = ['2024-12-01', '2025-01-01', '2025-02-01'] as const
type Month = (typeof MONTHS)[number]
const endOf = (startDate: Month) => windowSpan({ ...SERIES, startDate }).endTime
const rowAt = (time: number, cells = {}) => sampleRow(time, { 6: time + HOUR - 1, ...cells })
/** Candles of a month, with the last one, which completes it. */
const ROWS = Object.fromEntries(
  MONTHS.map(month => {
    const times = [HOUR, 5 * HOUR, 20 * DAY].map(ms => Date.parse(month) + ms)
    return [month, [...times, endOf(month) - HOUR].map(time => rowAt(time))]
  }),
) as Record<Month, KlineRow[]>

/** A mirror of three months, as it was downloaded, and its lock. */
function setup() {
  const folder = tempFolder()
  const [mirror, path] = [join(folder, 'm'), join(folder, 'klines.lock.json')]
  const index: Record<string, object> = {}
  /** Stores the candles of a month; `rendered`: when the service made the file, ms UTC. */
  const put = (startDate: Month, rows = ROWS[startDate], rendered = endOf(startDate) + HOUR) => {
    const text = JSON.stringify(rows)
    putFile(mirror, windowPath({ ...SERIES, startDate }), text)
    const ends = { first: rows.at(0)?.[0], last: rows.at(-1)?.[0] }
    index[startDate] = { size: text.length, sha256: sha256(Buffer.from(text)), rendered, asked: rendered, ...ends }
    putFile(mirror, '.klines/1h/BTCUSDT.json', index)
  }
  putFile(mirror, 'mirror.json', { layout: 1, baseUrl: SOURCE })
  putFile(mirror, 'api/klines/start-dates/1h.json', MONTHS)
  for (const month of MONTHS) put(month)
  const warnings: string[] = []
  const now = Date.parse('2025-03-03')
  const onEvent = onWarning(text => warnings.push(text))
  const lock = async (more: Partial<LockRequest> = {}) => {
    const request = { symbols: [SERIES.symbol], intervals: [SERIES.interval], mirror, now, onEvent, output: path }
    const report = await lockKlines({ ...request, force: true, ...more })
    return { report, lock: JSON.parse(readFileSync(path, 'utf8')) }
  }
  const check = (more: Partial<LockCheckRequest> = {}) =>
    checkLock({ lock: path, mirror, offline: true, now, onEvent, ...more })
  return { mirror, path, put, lock, check, warnings }
}

/** What a lock says of these candles. */
function lockedOf(rows: readonly KlineRow[], to = rows[rows.length - 1][0] + HOUR) {
  const years = [2024, 2025].flatMap(year => {
    const own = rows.filter(([time]) => new Date(time).getUTCFullYear() === year)
    const digest = sha256(Buffer.from(own.map(candleLine).join('')))
    return own.length > 0 ? [{ year, candles: own.length, sha256: digest }] : []
  })
  const [firstOpenTime, lastOpenTime] = [rows[0][0], rows[rows.length - 1][0]]
  const fingerprint = fingerprintOf('BTCUSDT', '1h', rows)
  const ends = { firstOpenTime, lastOpenTime, range: { from: firstOpenTime, to } }
  return { ...SERIES, candles: rows.length, ...ends, fingerprint, years }
}

describe('a lock', () => {
  it('has every field of the candles of final windows', async () => {
    const { lock, check, warnings } = setup()
    const rows = MONTHS.flatMap(month => ROWS[month])
    expect((await lock()).lock).toEqual({ version: 1, source: SOURCE, series: [lockedOf(rows)] })
    expect(await check()).toMatchObject({ verdict: 'equal', baseUrl: SOURCE, restated: [] })
    expect(warnings).toEqual([])
    // Of a range, the candles that open in it.
    const part = await lock({ from: '2024-12-01T02:00', to: '2025-02-21' })
    expect(part.lock.series).toEqual([lockedOf(rows.slice(1, -2))])
    expect(await check()).toMatchObject({ verdict: 'equal' })
  })

  it.each([
    ['a day after its end: all of them, and those behind it', endOf('2025-01-01') + DAY, 3, ROWS['2025-02-01']],
    ['a second less than that: all of them', endOf('2025-01-01') + DAY - 1000, 3, []],
    ['a day after its last candle', Date.parse('2025-01-21') + HOUR + DAY, 3, []],
    ['a second less than that', Date.parse('2025-01-21') + HOUR + DAY - 1000, 2, []],
    ['half a day after its first candle: none', Date.parse('2025-01-01') + DAY / 2, 0, []],
  ])(
    'has the candles of an open window that ended a day before it was rendered, %s',
    async (_, rendered, count, behind) => {
      const { put, lock, check, warnings } = setup()
      put('2025-01-01', ROWS['2025-01-01'].slice(0, 3), rendered)
      const rows = [...ROWS['2024-12-01'], ...ROWS['2025-01-01'].slice(0, count), ...behind]
      expect((await lock()).lock.series).toEqual([lockedOf(rows)])
      const reason = expect.stringMatching(/^BTCUSDT 1h 2025-01-01 was rendered at 2025-0.* gets a later version\.$/)
      expect(warnings).toEqual(behind.length > 0 ? [] : [reason])
      expect(await check()).toMatchObject({ verdict: 'equal' })
    },
  )
})

describe('the check of a lock', () => {
  it('finds one digit that differs, in its year; and another end, in no year', async () => {
    const { put, lock, check, path } = setup()
    const { lock: written } = await lock()
    const [series] = written.series
    const { range, firstOpenTime, lastOpenTime } = series
    for (const [end, change, locked] of [
      ['firstOpenTime', { firstOpenTime: firstOpenTime + HOUR }, firstOpenTime + HOUR],
      ['lastOpenTime', { lastOpenTime: lastOpenTime + 1 }, lastOpenTime + 1],
      ['from', { range: { ...range, from: range.from - 1 } }, range.from - 1],
      ['to', { range: { ...range, to: range.to - 60_000 } }, range.to - 60_000],
    ]) {
      putFile('/', path, { ...written, series: [{ ...series, ...Object(change) }] })
      const found = { ...series, ...range }[String(end)]
      const { verdict, series: checked } = await check()
      expect([verdict, checked[0].years]).toEqual(['different', []])
      expect(checked[0].ends).toContainEqual({ end, locked, found })
    }
    await lock()
    put('2025-02-01', ROWS['2025-02-01'].with(1, rowAt(Date.parse('2025-02-01T05:00Z'), { 10: '25552311.48122211' })))
    const { verdict, series: checked } = await check()
    expect([verdict, checked[0].ends]).toEqual(['different', []])
    expect(checked[0].years).toMatchObject([{ year: 2025, locked: { candles: 8 }, found: { candles: 8 } }])
  })

  it('knows nothing of years with a missing window, and all of the others', async () => {
    const { mirror, put, lock, check } = setup()
    await lock()
    rmSync(join(mirror, windowPath({ ...SERIES, startDate: '2024-12-01' })))
    const incomplete = await check()
    expect(incomplete).toMatchObject({ verdict: 'incomplete', series: [{ years: [], ends: [], isDifferent: false }] })
    expect(incomplete.series[0].missing).toMatchObject([{ window: { startDate: '2024-12-01' } }])
    put('2025-02-01', ROWS['2025-02-01'].slice(1))
    expect(await check()).toMatchObject({ verdict: 'different', series: [{ years: [{ year: 2025 }], ends: [] }] })
  })

  it('is of its own source alone; a lock without one needs an address, or offline a folder', async () => {
    const { lock, check, path } = setup()
    const { lock: written } = await lock()
    const other = 'https://other.example'
    for (const offline of [true, false]) {
      const error = { code: 'bad_option', message: `${path} has candles of ${SOURCE}, and this run of ${other}.` }
      await expect(check({ baseUrl: other, offline })).rejects.toMatchObject(error)
    }
    expect(await check({ baseUrl: `${SOURCE}/` })).toMatchObject({ verdict: 'equal' })
    putFile('/', path, { ...written, source: null })
    const error = { code: 'bad_option', message: `${path} does not say where its candles come from.` }
    await expect(check({ offline: false })).rejects.toMatchObject(error)
    await expect(check({ mirror: undefined })).rejects.toMatchObject(error)
    expect(await check()).toMatchObject({ verdict: 'equal', baseUrl: null })
  })
})
