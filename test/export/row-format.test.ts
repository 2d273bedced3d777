import { describe, expect, test } from 'vitest'
import { parseColumns, parseRowFormat, withSeriesColumns } from '../../src/export/row-format.js'
import { thrownBy } from '../support/thrown-by.js'

/** observed.md, the header of the exchange's archive files. */
const HEADER =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore'

describe('the columns of an export', () => {
  test('are the twelve of the exchange when nothing is said', () => {
    expect(parseColumns(undefined).join()).toBe(HEADER)
  })

  test.each([
    [
      ['close', 'open_time'],
      ['close', 'open_time'],
    ],
    [['close, open_time ,symbol'], ['close', 'open_time', 'symbol']],
    [
      ['interval', 'count,ignore'],
      ['interval', 'count', 'ignore'],
    ],
  ])('%j are %j, in the order they were said', (texts, columns) => {
    expect(parseColumns(texts)).toEqual(columns)
  })

  test.each([
    [['opentime'], 'Unknown column "opentime".', ['Did you mean open_time?']],
    [['Close'], 'Unknown column "Close".', ['Did you mean close?']],
    [['quote'], 'Unknown column "quote".', ['Did you mean quote_volume?']],
    [['open,'], 'Unknown column "".', []],
    [['__proto__'], 'Unknown column "__proto__".', []],
    [['open', 'high,open'], 'Column "open" is asked for twice.', []],
  ])('%j are refused', (texts, message, suggestions) => {
    const error = thrownBy(() => parseColumns(texts))
    expect(error).toMatchObject({ code: 'bad_option', suggestions })
    expect(error.message).toContain(message)
  })

  test('get symbol and interval in front where they were not asked for', () => {
    expect(withSeriesColumns(['open'])).toEqual(['symbol', 'interval', 'open'])
    expect(withSeriesColumns(['open', 'symbol'])).toEqual(['interval', 'open', 'symbol'])
    expect(withSeriesColumns(['interval', 'open', 'symbol'])).toEqual(['interval', 'open', 'symbol'])
  })
})

describe('a shape fits its format, and nothing is silently ignored', () => {
  test.each(['csv', 'json', 'jsonl'] as const)('%s carries text, times as asked', format => {
    expect(parseRowFormat({}, format)).toMatchObject({ timeFormat: 'ms', numbers: 'text' })
    expect(parseRowFormat({ timeFormat: 'iso', numbers: 'text' }, format)).toMatchObject({
      timeFormat: 'iso',
      numbers: 'text',
    })
    for (const numbers of ['double', 'decimal'] as const) {
      expect(thrownBy(() => parseRowFormat({ numbers }, format)).message).toContain(
        `\`numbers: '${numbers}'\` is for parquet and arrow`,
      )
    }
  })

  test.each(['parquet', 'arrow'] as const)('%s holds doubles unless told otherwise, and times in one way', format => {
    expect(parseRowFormat({}, format).numbers).toBe('double')
    for (const numbers of ['double', 'decimal', 'text'] as const)
      expect(parseRowFormat({ numbers }, format).numbers).toBe(numbers)
    expect(parseRowFormat({ timeFormat: 'ms' }, format).timeFormat).toBe('ms')
    for (const timeFormat of ['s', 'us', 'iso'] as const) {
      expect(thrownBy(() => parseRowFormat({ timeFormat }, format)).message).toContain(
        `\`timeFormat: '${timeFormat}'\` is for csv, json and jsonl`,
      )
    }
  })
})
