import { describe, expect, it } from 'vitest'
import { combine, parseSelection } from '../../src/candles/selection.js'
import { seriesName } from '../../src/candles/series.js'
import { catchError } from '../support/errors.js'

describe('a selection', () => {
  it.each([
    [['BTCUSDT'], ['1h'], { symbols: ['BTCUSDT'], intervals: ['1h'] }],
    [['eth/usdt', 'BTC-USDT'], ['1M', '15m'], { symbols: ['ETHUSDT', 'BTCUSDT'], intervals: ['1M', '15m'] }],
    [['BTCUSDT, ETHUSDT', 'btcusdt'], ['1h,1d', '1h'], { symbols: ['BTCUSDT', 'ETHUSDT'], intervals: ['1h', '1d'] }],
    [['all'], ['ALL'], { symbols: 'all', intervals: 'all' }],
    [['BTCUSDT', 'all'], ['1h'], { symbols: 'all', intervals: ['1h'] }],
    [['b*', 'ETHUSDT,?DA*', 'b*'], ['1h'], { symbols: ['b*', 'ETHUSDT', '?DA*'], intervals: ['1h'] }],
    [['b*', 'all'], ['1h'], { symbols: 'all', intervals: ['1h'] }],
  ])('of %j and %j has each name once, in the given order', (symbols, intervals, expected) => {
    expect(parseSelection({ symbols, intervals })).toEqual(expected)
  })

  it('makes each combination once, symbol by symbol, also where a pattern has a symbol that is named', () => {
    const selection = parseSelection({ symbols: ['ETHUSDT', '*USDT'], intervals: ['1d', '1h'] })
    const names = combine(selection, ['BTCUSDT', 'ETHUSDT', 'BTCEUR'], ['1m']).map(seriesName)
    expect(names).toEqual(['ETHUSDT 1d', 'ETHUSDT 1h', 'BTCUSDT 1d', 'BTCUSDT 1h'])
  })

  it.each([
    [['BTC+USD'], ['1h'], 'unknown_symbol'],
    [['all', 'BTC+USD'], ['1h'], 'unknown_symbol'],
    [['*USDT', 'BTC+USD'], ['1h'], 'unknown_symbol'],
    [['../etc'], ['1h'], 'unknown_symbol'],
    [['BTCUSDT'], ['1s'], 'unknown_interval'],
    [['BTCUSDT'], ['all', '7m'], 'unknown_interval'],
    [['BTCUSDT', '1D'], ['1h'], 'unknown_symbol'],
    [[', ,'], ['1h'], 'bad_option'],
    [['BTCUSDT'], [''], 'bad_option'],
    [[], ['1h'], 'bad_option'],
    [['BTCUSDT'], [], 'bad_option'],
  ])('of %j and %j is refused: %s', async (symbols, intervals, code) => {
    expect(await catchError(() => parseSelection({ symbols, intervals }))).toMatchObject({ code })
  })
})
