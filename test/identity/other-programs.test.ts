import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COLUMNS } from '../../src/candles/columns.js'
import { fingerprintFiles } from '../../src/identity/fingerprint.js'
import { catchError } from '../support/errors.js'
import { manyRows, rowFormat, runExporter, toBatches } from '../support/exporting.js'
import { duckdb } from '../support/oracles/duckdb.js'
import { fingerprintOf } from '../support/oracles/fingerprint-oracle.js'
import { tempFolder } from '../support/temp-folder.js'
import { LEAP_MONTH, sampleRow } from '../support/windows.js'

const START = LEAP_MONTH.span.startTime
const HOUR = 3_600_000
const rows = [0, 1, 2, 3].map(hour => sampleRow(START + hour * HOUR))
describe('a Parquet file of another program', () => {
  const many = manyRows(3000)
  async function rewritten(options: string, more = ''): Promise<string> {
    const [from, to] = ['a.parquet', 'BTCUSDT-1h.parquet'].map(name => join(tempFolder(), name))
    const { bytes } = await runExporter('parquet', toBatches([many]), rowFormat({ columns: COLUMNS }))
    writeFileSync(from, bytes)
    await duckdb(`copy (select *${more} from '${from}') to '${to}' (format parquet, ${options})`)
    return to
  }

  it.each([
    ['several row groups', 'codec uncompressed, row_group_size 2048', ''],
    ['lists and structs', 'codec zstd', ', {a: 1, open: 2} as extra, [1, 2] as l, map {1: 2} as m'],
    ['pages of version 2 with gzip', 'parquet_version v2, codec gzip', ", 'x' as note"],
  ])('with %s has the same fingerprint', async (_, options, more) => {
    const { series } = await fingerprintFiles([await rewritten(options, more)])
    expect(series[0].fingerprint).toBe(fingerprintOf('BTCUSDT', '1h', many.rows))
  })
})

describe('a text file of another program', () => {
  const line = (row: readonly (string | number)[]) => row.join(',')
  const body = rows.map(line).join('\n')
  const names = COLUMNS.join(',')
  const archive =
    'Open time,Open,High,Low,Close,Volume,Close time,Quote asset volume,Number of trades,Taker buy base asset volume,Taker buy quote asset volume,Ignore'
  /** The times of the rows in another form. */
  const timed = (open: (ms: number) => string, close: (ms: number) => string, ofRows = rows) => {
    const other = ofRows.map(row => row.map((cell, at) => (at === 0 ? open(+cell) : at === 6 ? close(+cell) : cell)))
    return `${names}\n${other.map(line).join('\n')}\n`
  }
  const both = (form: (ms: number) => string) => [form, form] as const
  const followed = (open: string, close: string) =>
    timed(
      ms => ms + open,
      ms => ms + close,
    )
  const iso = (ms: number) => new Date(ms).toISOString()
  /** With a blank, and with `zone` for the Z. */
  const clock = (ms: number, zone = '') => iso(ms).replace('T', ' ').replace('.000', '').replace('Z', zone)
  const write = (text: string | Buffer, name = 'BTCUSDT-1h.csv') => {
    const path = join(tempFolder(), name)
    writeFileSync(path, text)
    return path
  }

  it.each([
    ['without names, in the order of the exchange', `${body}\n`],
    ['with semicolons', `${names}\n${body}\n`.replaceAll(',', ';')],
    ['with tabs, quotes and CRLF', `"${`${names}\n${body}`.replaceAll(',', '"\t"').replaceAll('\n', '"\r\n"')}"\r\n`],
    ['with the separator in a line before', `sep=;\r\n${`${names}\n${body}\n`.replaceAll(',', ';')}`],
    ['without names behind sep=,', `sep=,\n${body}\n`],
    ['with the names of the archive', `\ufeff${archive}\n${body}\n\n`],
    ['with times in us', followed('000', '999')],
    ['with times in ns', followed('000000', '999999')],
    [
      'with times in s and us',
      timed(
        ms => `${ms / 1000}.000000`,
        ms => `${ms / 1000}999`,
      ),
    ],
    [
      'with times of Python',
      timed(
        ms => iso(ms).slice(0, 19).concat('+00:00'),
        ms => iso(ms).replace('T', ' ').replace('Z', '999+00:00'),
      ),
    ],
    ['with empty lines and blank ones', `\n${names}\r\n \n${body}\n\t\n${','.repeat(11)}\n\n`],
    ['with the line ends of old spreadsheets', `${names}\n${body}\n`.replaceAll('\n', '\r')],
    ['with blanks around its cells', `${`"${names}"`.replaceAll(',', '" , "')}\n${body.replaceAll(',', ' ,  ')} \n`],
    ['in UTF-16', Buffer.from(`\ufeff${names}\r\n${body}\r\n`, 'utf16le')],
    ['with times of DuckDB', timed(...both(ms => clock(ms, '+00')))],
    ['with times without a zone', timed(...both(clock))],
    ['with UTC behind its times', timed(...both(ms => clock(ms, ' UTC')))],
    ['with times of Kolkata', timed(...both(ms => clock(ms + 5.5 * HOUR, '+05:30')))],
    ['without seconds where candles open', timed(ms => clock(ms).slice(0, 16), String)],
    ['with numbers that were doubles', timed(...both(ms => `${ms}.0`)).replaceAll(',53210,', ',53210.0,')],
  ])('%s has the same fingerprint', async (_, text) => {
    const { series } = await fingerprintFiles([write(text)])
    expect(series[0].fingerprint).toBe(fingerprintOf('BTCUSDT', '1h', rows))
  })

  it('with days where candles of days open has the same fingerprint', async () => {
    const days = [0, 1, 2].map(day => sampleRow(START + day * 24 * HOUR).with(6, START + (day + 1) * 24 * HOUR - 1))
    const text = timed(ms => iso(ms).slice(0, 10), clock, days as typeof rows)
    const { series } = await fingerprintFiles([write(text, 'BTCUSDT-1d.csv')])
    expect(series[0].fingerprint).toBe(fingerprintOf('BTCUSDT', '1d', days as typeof rows))
  })

  it('of JSON Lines with empty lines and blank ones has the same fingerprint', async () => {
    const objects = rows.map(row => JSON.stringify(Object.fromEntries(COLUMNS.map((name, at) => [name, row[at]]))))
    const { series } = await fingerprintFiles([write(`\n${objects.join('\r\n \n')}\n\n\t`, 'BTCUSDT-1h.jsonl')])
    expect(series[0].fingerprint).toBe(fingerprintOf('BTCUSDT', '1h', rows))
  })

  it.each([
    [
      'six cells without names',
      rows.map(row => line(row.slice(0, 6))).join('\n'),
      'its first line is a candle of 6 cells, where the names of the columns belong.',
    ],
    [
      'prices with a comma',
      `${names}\n${body}\n`.replaceAll(',', ';').replaceAll('.', ','),
      'row 1, open: expected a decimal such as 0.00100000, got "',
    ],
    ['a sentence', 'no candles here\n', 'its first line has "no candles here".'],
    ['a line that is short', `${rows.map(line).join('\n')}\n1,2\n`, 'row 5: it has 2 cells, expected 12.'],
    ['a time between two ms', timed(ms => `${ms}500`, String), 'row 1, open_time: expected a time: ms (13 digits)'],
    ['a time of a spreadsheet', timed(() => '12/30/2024 0:00', String), 'row 1, open_time: expected a time: ms'],
    ['a day that is none', timed(() => '2024-02-30 00:00:00Z', String), 'row 1, open_time: expected a time: ms'],
    ['a close without seconds', timed(String, ms => clock(ms).slice(0, 16)), 'such as 2025-01-01 00:59:59.999'],
    ['an hour there twice', timed(() => '2024-10-27 02:00:00', String), 'row 2, open_time: 2024'],
  ])('%s is no damage', async (_, text, message) => {
    const error = await catchError(fingerprintFiles([write(text)]))
    expect([error.code, error.message]).toEqual(['bad_input', expect.stringContaining(message)])
  })
})
