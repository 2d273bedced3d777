import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportKlines } from '../../src/engine/export.js'
import { downloadKlines, klineRows, updateKlines } from '../../src/engine/klines.js'
import { catchError } from '../support/errors.js'
import { onWarning } from '../support/events.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { putFile } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const HOUR = 3_600_000
const MONTHS = Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')}-01`)
const ms = (text: string) => Date.parse(text)
const NOW = ms('2026-10-10T12:00Z')
const row = (openTime: number) => [openTime, '1', '1', '1', '1', '1', openTime + HOUR - 1, '1', 1, '1', '1', '0']
const path = (startDate: string) => `api/klines/1h/BTCUSDT/${startDate}.json`

/** The hours of a month from a time on. */
function monthRows(startDate: string, from = startDate): unknown[] {
  const end = ms(MONTHS[MONTHS.indexOf(startDate) + 1])
  return Array.from({ length: (end - ms(from)) / HOUR }, (_, index) => row(ms(from) + index * HOUR))
}

/** A service of 1h months of 2026, which has only some of those that it lists, and a client. */
async function setup(windows: Record<string, unknown[]>) {
  const tree = tempFolder()
  const server = await TreeServer.start(tree)
  server.date = NOW
  putFile(tree, 'api/klines/symbols.json', ['BTCUSDT'])
  putFile(tree, 'api/klines/start-dates/1h.json', MONTHS)
  for (const [date, rows] of Object.entries(windows)) putFile(tree, path(date), rows, NOW)
  const folder = tempFolder()
  const notes: string[] = []
  const onEvent = onWarning(text => notes.push(text.replace(server.url, 'It')))
  const place = { baseUrl: server.url, mirror: join(folder, 'm'), now: NOW, onEvent }
  const request = { ...place, symbols: ['BTCUSDT'], intervals: ['1h'] as const }
  return { server, folder, notes, place, request }
}

const MAY_AND_JUNE = { '2026-05-01': monthRows('2026-05-01'), '2026-06-01': monthRows('2026-06-01') }
const BEGINS = 'It begins BTCUSDT 1h with 2026-05-01, and has none of 4 windows before that.'
const ENDS =
  'It ends BTCUSDT 1h with 2026-06-01, and has none of 4 windows after that; its newest candle is of 2026-06-30 23:00 UTC, 101 days old.'

describe('a service that has not all of the windows that it lists', () => {
  it('begins with the first one that it has, and ends with the last one where no end is named', async () => {
    const { notes, request } = await setup(MAY_AND_JUNE)
    const { series } = await downloadKlines({ ...request, failOnGaps: true })
    expect(notes).toEqual([BEGINS, ENDS])
    expect(series).toMatchObject([{ candles: 61 * 24, windows: { fetched: 2, absent: 8, failed: 0 } }])
  })

  it.each<[string, string[], { to?: string; last?: string; tail?: number }, string[]]>([
    ['one between two others', ['2026-05-01', '2026-07-01'], {}, ['2026-06-01']],
    ['one at an end that is named', ['2026-05-01'], { to: '2026-07' }, ['2026-06-01']],
    ['all of the last days', ['2026-05-01'], { last: '30d' }, ['2026-09-01', '2026-10-01']],
    ['all of a series', [], {}, MONTHS.slice(0, 10)],
    ['all of a series whose last candles are wanted', [], { tail: 3 }, MONTHS.slice(0, 10)],
    ['one between two others, before the last candles', ['2026-05-01', '2026-07-01'], { tail: 999 }, ['2026-06-01']],
  ])('it is a failure when it lacks %s', async (_, there, options, missing) => {
    const { request } = await setup(Object.fromEntries(there.map(date => [date, monthRows(date)])))
    const run = () =>
      options.tail ? exportKlines({ ...request, ...options, output: '-' }) : downloadKlines({ ...request, ...options })
    const error = await catchError(run)
    const failures = missing.map(startDate => expect.objectContaining({ startDate }))
    expect(error).toMatchObject({ code: 'incomplete', data: { failures } })
  })

  it('what it lacks before its first candle is short at a start that is named', async () => {
    const { request, place, folder } = await setup(MAY_AND_JUNE)
    const { series } = await downloadKlines({ ...request, from: '2026-04-10', to: '2026-07' })
    expect(series[0].coverage).toMatchObject({ shortAtStart: 21 * 24, shortAtEnd: 0 })
    const named = { ...request, from: '2026-04-10', output: join(folder, 'x.csv'), failOnGaps: true }
    expect(await catchError(() => exportKlines(named))).toMatchObject({ code: 'incomplete' })
    const whole = await updateKlines(place)
    expect(whole.series).toMatchObject([{ candles: 61 * 24 }])
  })

  it('its last days are short where they were named by their length', async () => {
    const { request, notes } = await setup(MAY_AND_JUNE)
    const { series } = await downloadKlines({ ...request, last: '130d' })
    expect(notes).toEqual([ENDS])
    expect(series[0].coverage).toMatchObject({ shortAtStart: 0, shortAtEnd: (NOW - ms('2026-07-01')) / HOUR })
  })

  it('its candles are exported, also the last ones and longer ones, and its mirror updated and read offline', async () => {
    const { request, place, folder, notes } = await setup(MAY_AND_JUNE)
    const output = join(folder, 'x.csv')
    const openTimes = async (options: object) => {
      await exportKlines({ ...request, output, force: true, ...options })
      return readFileSync(output, 'utf8')
        .trimEnd()
        .split('\n')
        .slice(1)
        .map(line => Number(line.split(',')[0]))
    }
    const hours = Array.from({ length: 61 * 24 }, (_, index) => ms('2026-05-01') + index * HOUR)
    expect(await openTimes({ tail: 3 })).toEqual(hours.slice(-3))
    expect(await openTimes({ tail: 5_000 })).toEqual(hours)
    expect(await openTimes({})).toEqual(hours)
    // The week that begins on 27 April is not there as a whole.
    const weeks = Array.from({ length: 8 }, (_, week) => new Date(ms('2026-05-04') + week * 168 * HOUR).toISOString())
    expect(await openTimes({ resample: '1w' })).toEqual(weeks.map(ms))
    const found: number[] = []
    for await (const { row } of klineRows({ ...request, resample: '1w' })) found.push(row.open_time)
    expect(found).toEqual(weeks.map(ms))
    notes.length = 0
    expect((await updateKlines(place)).series).toMatchObject([{ candles: hours.length }])
    expect(notes).toEqual([ENDS])
    expect(await openTimes({ offline: true })).toEqual(hours)
  })
})
