import { describe, expect, it } from 'vitest'
import { INTERVALS, type Interval } from '../../../src/candles/intervals.js'
import { describeAbsence } from '../../../src/server/viewer/absence.js'
import type { Coverage } from '../../../src/server/viewer/service.js'

/** A mirror of a service with 15m and 1h of BTCUSDT, 1d of ETHUSDT, and empty windows of SOLUSDT. */
const mirror: Coverage = {
  source: { kind: 'service' },
  downloadFlags: ' --base-url http://127.0.0.1:8090',
  upstream: false,
  intervals: INTERVALS,
  symbols: ['BTCUSDT', 'ETHUSDT', 'SOLUSDT'],
  series: [
    { symbol: 'BTCUSDT', interval: '15m', lastOpenTime: Date.UTC(2025, 0, 6) },
    { symbol: 'BTCUSDT', interval: '1h', lastOpenTime: Date.UTC(2025, 0, 1) },
    { symbol: 'ETHUSDT', interval: '1d', lastOpenTime: Date.UTC(2024, 0, 1) },
    { symbol: 'SOLUSDT', interval: '1d' },
  ],
}
const texts = ({ choices }: { choices: readonly { text: string }[] }) => choices.map(({ text }) => text)

describe('an address with an interval that is none', () => {
  it.each([
    ['1H', 'There is no interval “1H”. Did you mean 1h?'],
    ['240min', 'There is no interval “240min”. Did you mean 4h?'],
    ['7m', 'There is no interval “7m”.'],
  ])('%s: what there is', (interval, problem) => {
    const absence = describeAbsence(mirror, { symbol: 'BTCUSDT', interval }, true)
    expect(absence.problem).toBe(problem)
    expect(absence.choices).toEqual([
      { text: '15m', href: '/chart/BTCUSDT/15m' },
      { text: '1h', href: '/chart/BTCUSDT/1h' },
    ])
  })

  it('of a symbol without candles: the other symbols', () => {
    const absence = describeAbsence(mirror, { symbol: 'SOLUSDT', interval: '1H' }, true)
    expect(absence.choices).toEqual([
      { text: 'BTCUSDT', href: '/chart/BTCUSDT/1h' },
      { text: 'ETHUSDT', href: '/chart/ETHUSDT/1d' },
    ])
  })
})

describe('an address with a series without candles', () => {
  const problem = (symbol: string, interval: Interval, change: Partial<Coverage> = {}) =>
    describeAbsence({ ...mirror, ...change }, { symbol, interval }, true).problem

  it('has the command that downloads it', () => {
    expect(problem('BTCUSDT', '4h')).toBe(
      'This mirror has no 4h candles of BTCUSDT. Download them with: klines download BTCUSDT -i 4h --base-url http://127.0.0.1:8090',
    )
    expect(problem('BTCUSDT', '4h', { source: { kind: 'unknown' } })).toMatch(/ -i 4h$/)
    expect(problem('BTCUSDT', '4h', { upstream: true })).toBe(
      'The service of this server has no 4h candles of BTCUSDT.',
    )
  })

  it('names the exchange where a mirror can have no minutes, and not for the sample', () => {
    expect(problem('BTCUSDT', '1m')).toBe(
      'This mirror has no 1m candles of BTCUSDT. Only the exchange has them: klines download BTCUSDT -i 1m --base-url binance',
    )
    expect(problem('BTCUSDT', '1m', { source: { kind: 'sample' } })).toBe('The sample has no 1m candles of BTCUSDT.')
  })

  it('offers what there is: the intervals of the symbol, or symbols that look like it first', () => {
    expect(texts(describeAbsence(mirror, { symbol: 'BTCUSDT', interval: '1m' }, true))).toEqual(['15m', '1h'])
    expect(texts(describeAbsence(mirror, { symbol: 'SOLUSDT', interval: '1d' }, true))).toEqual(['BTCUSDT', 'ETHUSDT'])
    const unknown = describeAbsence(mirror, { symbol: 'ETH', interval: '1d' }, false)
    expect(unknown.problem).toBe('This mirror has no symbol ETH.')
    expect(unknown.choices[0]).toEqual({ text: 'ETHUSDT', href: '/chart/ETHUSDT/1d' })
    const empty = { ...mirror, series: [] }
    const wanted = { symbol: 'ETHUSDT', interval: '1d' } as const
    expect(texts(describeAbsence(empty, wanted, true))).toEqual([])
    expect(describeAbsence(empty, wanted, false).problem).toMatch(/ Download them with: klines download ETHUSDT -i 1d /)
    // A service has more than what was shown of it.
    const other = describeAbsence({ ...mirror, upstream: true }, { symbol: 'NOSUCH', interval: '1d' }, false)
    expect([other.problem, texts(other)]).toEqual(['The service of this server has no symbol NOSUCH.', mirror.symbols])
  })
})
