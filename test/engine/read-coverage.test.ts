import { describe, expect, it } from 'vitest'
import { klineBatches, klineRows, type ReadRequest } from '../../src/engine/klines.js'
import { catchError } from '../support/errors.js'
import { onWarning } from '../support/events.js'
import { tempFolder } from '../support/temp-folder.js'

/** The newest hour of the sample opens at 2025-03-30 23:00. Its January lacks three hours in a row. */
const REQUEST = { symbols: ['BTCUSDT'], intervals: ['1h'], baseUrl: 'sample' } as const
const RANGE = { from: '2025-03-25', to: '2025-04-05' }
const REQUESTED = 'You asked for 2025-03-25 00:00 to 2025-04-05 00:00 UTC'

/** Reads all candles; returns their number, what was warned of, and the error at the end. */
async function readAll(request: Partial<ReadRequest>) {
  const warnings: string[] = []
  let rows = 0
  const error = await catchError(async () => {
    const onEvent = onWarning(text => warnings.push(text))
    for await (const batch of klineBatches({ ...REQUEST, mirror: tempFolder(), ...request, onEvent }))
      rows += batch.length
    // So that there always is one.
    throw new Error('none')
  })
  return { rows, warnings, error }
}

describe('rows and batches of less than was requested', () => {
  it.each<[string, Partial<ReadRequest>, number, string[]]>([
    [
      'of one series',
      RANGE,
      144,
      ['BTCUSDT 1h: candles from 2025-03-25 00:00 to 2025-03-30 23:00: 120 short at the end.'],
    ],
    [
      'of several ones',
      { ...RANGE, intervals: ['1h', '4h'] },
      180,
      [
        'BTCUSDT 1h: candles from 2025-03-25 00:00 to 2025-03-30 23:00: 120 short at the end.',
        'BTCUSDT 4h: candles from 2025-03-25 00:00 to 2025-03-30 20:00: 30 short at the end.',
      ],
    ],
    [
      'of longer candles',
      { ...RANGE, resample: '12h' },
      12,
      ['BTCUSDT 12h: candles from 2025-03-25 00:00 to 2025-03-30 12:00: 10 short at the end.'],
    ],
    // The last one ends after the range.
    ['of no longer candle', { from: '2025-03-25', to: '2025-03-30T06:00', resample: '12h' }, 11, []],
    ['of an end that is not named', { from: '2025-03-25' }, 144, []],
    ['of no range', {}, 2181, []],
  ])('warn at the end: %s', async (_, request, rows, warnings) => {
    const { error, ...found } = await readAll(request)
    expect(found).toEqual({ rows, warnings: warnings.map(text => `${REQUESTED}; ${text}`) })
    expect(error).toMatchObject({ message: 'none' })
  })

  it('throw incomplete at the end with failOnGaps, after all rows', async () => {
    const { rows, warnings, error } = await readAll({ ...RANGE, failOnGaps: true })
    expect([rows, warnings]).toEqual([144, []])
    expect(error).toMatchObject({
      code: 'incomplete',
      message: expect.stringContaining('120 short at the end'),
      data: { series: [{ symbol: 'BTCUSDT', interval: '1h', missing: 0, shortAtStart: 0, shortAtEnd: 120 }] },
    })
    const gaps = await readAll({ failOnGaps: true })
    expect([gaps.rows, gaps.error]).toEqual([
      2181,
      expect.objectContaining({ message: expect.stringContaining('BTCUSDT 1h: 3 candles missing in 1 gap') }),
    ])
    expect((await readAll({ from: '2025-03-25', to: '2025-03-31', failOnGaps: true })).error).toMatchObject({
      message: 'none',
    })
  })

  it('say nothing when the loop is left before', async () => {
    const warnings: string[] = []
    const onEvent = onWarning(text => warnings.push(text))
    for await (const _ of klineRows({ ...REQUEST, mirror: tempFolder(), ...RANGE, failOnGaps: true, onEvent })) break
    expect(warnings).toEqual([])
  })
})
