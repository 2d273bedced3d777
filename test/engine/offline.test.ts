import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import type { SymbolName } from '../../src/candles/symbols.js'
import { exportKlines } from '../../src/engine/export.js'
import { catchError } from '../support/errors.js'
import { onWarning, onWindow } from '../support/events.js'
import { filesBelow } from '../support/files-below.js'
import {
  EMPTY_WEEK,
  FULL_WEEKS,
  FUTURE_WEEK,
  makeTree,
  NOW,
  OPEN_WEEK,
  putFile,
  START_DATES,
  SYMBOLS,
  treeRows,
  weekPath,
} from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const HEADER =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore'

/** A mirror that is a bare tree, a folder for outputs, and a request that never uses the network. */
function offlineSetup() {
  const mirror = makeTree(tempFolder())
  const folder = tempFolder()
  const output = join(folder, 'out.csv')
  const warnings: string[] = []
  const request = {
    symbols: ['BTCUSDT'] as SymbolName[],
    intervals: ['15m'] as Interval[],
    mirror,
    output,
    offline: true,
    now: NOW,
    onEvent: onWarning(text => warnings.push(text)),
  }
  const remove = (startDate: string, symbol = 'BTCUSDT') => rmSync(join(mirror, weekPath(symbol, startDate)))
  return { mirror, folder, output, warnings, request, remove }
}

/** The CSV file of these weeks, computed from the synthetic tree alone. */
function expectedCsv(symbol: string, weeks: readonly string[]): string {
  const rows = weeks.flatMap(week => treeRows(symbol).get(week) ?? [])
  return `${[HEADER, ...rows.map(row => row.join(','))].join('\n')}\n`
}

describe('an export from the mirror alone', () => {
  it('writes exactly the rows of the range', async () => {
    const { mirror, folder, output, warnings, request } = offlineSetup()
    const range = { ...request, from: '2025-01-13', to: '2025-01-27' }
    const report = await exportKlines(range)
    expect(readFileSync(output, 'utf8')).toBe(expectedCsv('BTCUSDT', ['2025-01-13', '2025-01-20']))
    expect(warnings).toEqual([])
    for (const week of ['2025-01-13', '2025-01-20']) putFile(mirror, weekPath('ETHUSDT', week), [])
    const { files } = await exportKlines({ ...range, symbols: SYMBOLS, output: join(folder, '{symbol}.csv') })
    expect([files.length, warnings]).toEqual([1, ['No candles in the range: ETHUSDT 15m.']])
    expect(report).toMatchObject({ requests: 0, bytes: 0, baseUrl: undefined, files: [{ path: output, candles: 16 }] })
  })

  it('lists a window of the range that the mirror lacks, and writes nothing', async () => {
    const { folder, request, remove } = offlineSetup()
    remove(FULL_WEEKS[1])
    const error = await catchError(exportKlines(request))
    expect(error).toMatchObject({
      code: 'incomplete',
      suggestions: [expect.stringContaining('klines download')],
    })
    expect(error.message).toContain(`1 x not in the mirror (BTCUSDT 15m ${FULL_WEEKS[1]})`)
    expect(filesBelow(folder)).toEqual([])
  })

  it('lists a corrupt window, writes nothing and leaves an existing file unchanged', async () => {
    const { mirror, folder, output, request } = offlineSetup()
    putFile(mirror, weekPath('BTCUSDT', FULL_WEEKS[1]), '[[1736')
    writeFileSync(output, 'old')
    const error = await catchError(exportKlines({ ...request, force: true }))
    expect(error.code).toBe('incomplete')
    expect(error.message).toContain('corrupt in the mirror')
    expect(readFileSync(output, 'utf8')).toBe('old')
    expect(filesBelow(folder)).toEqual(['out.csv'])
  })

  it('of all exports what is cached and warns of what is not', async () => {
    const { mirror, folder, warnings, request } = offlineSetup()
    rmSync(join(mirror, 'api', 'klines', '15m', 'BTCUSDT'), { recursive: true })
    await exportKlines({
      ...request,
      symbols: 'all' as const,
      intervals: 'all' as const,
      output: join(folder, '{symbol}-{interval}.csv'),
    })
    expect(filesBelow(folder)).toEqual(['ETHUSDT-15m.csv'])
    expect(warnings).toEqual(['Not in the mirror, so not part of "all": BTCUSDT.'])
  })

  it('of a pattern that matches nothing in the mirror is unknown_symbol, with the names that it has', async () => {
    const { request } = offlineSetup()
    expect(await catchError(exportKlines({ ...request, symbols: ['DOT*'] }))).toMatchObject({
      code: 'unknown_symbol',
      message: `No symbol matches "DOT*". There are ${SYMBOLS.join(', ')}.`,
    })
  })

  it('of an interval that the mirror lacks names the one that it can be made of', async () => {
    const { request, folder } = offlineSetup()
    await expect(exportKlines({ ...request, intervals: ['1w'] })).rejects.toMatchObject({
      code: 'window_missing',
      message: 'Not in the mirror: BTCUSDT 1w.',
      suggestions: [
        'klines export -i 15m --resample 1w makes them of the candles since 2025-01-06.',
        expect.stringContaining('klines download'),
      ],
    })
    expect(filesBelow(folder)).toEqual([])
    expect((await exportKlines({ ...request, resample: '1w', partial: true })).files).toHaveLength(1)
  })

  it('of a named symbol that is not cached names what is missing, and one that no list has is unknown', async () => {
    const { mirror, request } = offlineSetup()
    rmSync(join(mirror, 'api/klines/15m/ETHUSDT'), { recursive: true })
    await expect(exportKlines({ ...request, symbols: ['BTCUSDT', 'ETHUSDT'] })).rejects.toMatchObject({
      code: 'window_missing',
      message: 'Not in the mirror: ETHUSDT 15m.',
    })
    await expect(exportKlines({ ...request, symbols: ['SOLUSDT'] })).rejects.toMatchObject({ code: 'unknown_symbol' })
  })

  it('of a range without an end stops at the last cached window and says how old the newest candle is when windows have begun since', async () => {
    const { mirror, output, warnings, request, remove } = offlineSetup()
    putFile(mirror, 'mirror.json', { baseUrl: 'http://one.example' })
    await exportKlines(request)
    expect(warnings).toEqual([])
    remove(EMPTY_WEEK)
    for (const more of [{ from: FULL_WEEKS[0] }, { tail: 1 }, {}])
      await exportKlines({ ...request, ...more, force: true })
    expect(warnings.splice(0)).toEqual([
      `The mirror begins later than its source: BTCUSDT 15m with ${FULL_WEEKS[0]}. klines download without --from has the rest.`,
    ])
    putFile(mirror, 'api/klines/start-dates/15m.json', START_DATES.slice(1))
    remove(FUTURE_WEEK)
    remove(OPEN_WEEK)
    await exportKlines({ ...request, force: true })
    expect(readFileSync(output, 'utf8')).toBe(expectedCsv('BTCUSDT', FULL_WEEKS))
    expect(warnings).toEqual(['15m candles end 2025-02-09 23:45, 2 days ago; klines update fetches newer ones.'])
    // An end that moves may lag behind by two days, and no end that is named.
    const lagging = { ...request, from: FULL_WEEKS[0], force: true }
    const [twoDays, later] = [Date.parse('2025-02-11T23:59Z'), Date.parse('2025-02-12T00:00Z')]
    await exportKlines({ ...lagging, to: 'now', now: twoDays })
    for (const range of [
      { to: 'now', now: later },
      { to: '2025-02-11', now: twoDays },
    ])
      await expect(exportKlines({ ...lagging, ...range })).rejects.toMatchObject({ code: 'incomplete' })
  })
})

it('a window that disappears while others are read is an error, and the old files stay', async () => {
  const { request, folder, mirror } = offlineSetup()
  const output = join(folder, '{symbol}.csv')
  for (const symbol of SYMBOLS) writeFileSync(join(folder, `${symbol}.csv`), 'old')
  // The last candles were found by then.
  const onEvent = onWindow(({ done }) => {
    if (done === 1) rmSync(join(mirror, weekPath('BTCUSDT', FULL_WEEKS[2])))
  })
  const both = { ...request, symbols: SYMBOLS, tail: 1_000, force: true, output, onEvent }
  await expect(exportKlines(both)).rejects.toMatchObject({ code: 'incomplete' })
  for (const symbol of SYMBOLS) expect(readFileSync(join(folder, `${symbol}.csv`), 'utf8')).toBe('old')
  expect(filesBelow(folder)).toEqual(SYMBOLS.map(symbol => `${symbol}.csv`).sort())
})
