import zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { hasZstd, parseColumns, parseRowFormat, withSeriesColumns } from '../../src/formats/row-format.js'
import { thrownBy } from '../support/thrown-by.js'

/** The header of the exchange's archive files. */
const HEADER =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore'

describe('the columns of an export', () => {
  it('are the twelve of the exchange by default', () => {
    expect(parseColumns(undefined).join()).toBe(HEADER)
  })

  it.each([
    [['close', 'open_time'], 'close,open_time'],
    [['close, open_time ,symbol'], 'close,open_time,symbol'],
    [['interval', 'count,ignore'], 'interval,count,ignore'],
  ])('%j are %s, in the given order', (texts, columns) => {
    expect(parseColumns(texts).join()).toBe(columns)
  })

  it.each([
    [['opentime'], 'Unknown column "opentime".', ['Did you mean open_time?']],
    [['Close'], 'Unknown column "Close".', ['Did you mean close?']],
    [['open', 'high,open'], 'Column "open" is given twice.', []],
  ])('%j are refused', (texts, message, suggestions) => {
    const error = thrownBy(() => parseColumns(texts))
    expect(error).toMatchObject({ code: 'bad_option', suggestions })
    expect(error.message).toContain(message)
  })

  it('start with symbol and interval if these were not requested', () => {
    expect(withSeriesColumns(['open'])).toEqual(['symbol', 'interval', 'open'])
    expect(withSeriesColumns(['open', 'symbol'])).toEqual(['interval', 'open', 'symbol'])
    expect(withSeriesColumns(['interval', 'open', 'symbol'])).toEqual(['interval', 'open', 'symbol'])
  })
})

describe('a row format must fit the file format; no option is silently ignored', () => {
  it.each(['csv', 'json', 'jsonl'] as const)('%s has numbers as text and times in any format', format => {
    expect(parseRowFormat({}, format)).toMatchObject({ timeFormat: 'ms', numbers: 'text' })
    const given = { timeFormat: 'iso', numbers: 'text' } as const
    expect(parseRowFormat(given, format)).toMatchObject(given)
    for (const numbers of ['double', 'decimal'] as const) {
      expect(thrownBy(() => parseRowFormat({ numbers }, format)).message).toContain(
        `--numbers ${numbers} is for parquet and arrow`,
      )
    }
  })

  it.each(['parquet', 'arrow'] as const)('%s has doubles by default, and one type of time', format => {
    expect(parseRowFormat({}, format).numbers).toBe('double')
    for (const numbers of ['double', 'decimal', 'text'] as const)
      expect(parseRowFormat({ numbers }, format).numbers).toBe(numbers)
    expect(parseRowFormat({ timeFormat: 'ms' }, format).timeFormat).toBe('ms')
    for (const timeFormat of ['s', 'us', 'iso'] as const) {
      expect(thrownBy(() => parseRowFormat({ timeFormat }, format)).message).toContain(
        `--time-format ${timeFormat} is for csv, json and jsonl`,
      )
    }
  })

  it('parquet is compressed with zstd where Node has it, else with gzip, or as requested', () => {
    expect(hasZstd()).toBe('zstdCompressSync' in zlib)
    expect(parseRowFormat({}, 'parquet').compression).toBe(hasZstd() ? 'zstd' : 'gzip')
    for (const compression of ['gzip', 'snappy', 'none'] as const)
      expect(parseRowFormat({ compression }, 'parquet').compression).toBe(compression)
    const error = thrownBy(() => parseRowFormat({ compression: 'lz4' as never }, 'parquet'))
    expect(error.message).toBe('--compression is "lz4". Expected zstd, gzip, snappy, none.')
  })
})
