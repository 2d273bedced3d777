import { describe, expect, it } from 'vitest'
import type { Interval } from '../../src/candles/intervals.js'
import { type State, type WindowFacts, windowState } from '../../src/mirror/window-state.js'
import type { Rules } from '../../src/sources/source.js'

const DAY = 86_400_000
const MINUTE = 60_000

/** Of the file on disk. */
const DIGEST = 'a'

const ms = (text: string) => Date.parse(text)

/** Facts of a window that was rendered and asked for at these times. */
function factsOf(rendered: number | undefined, asked: number, last?: number): WindowFacts {
  return { size: 2, sha256: DIGEST, rendered, asked, first: last, last }
}

/** The state of a window whose last candle opens at `last`. */
function stateOf(
  kind: Rules['kind'],
  [interval, startDate]: readonly [Interval, string],
  last: string | undefined,
  facts?: WindowFacts,
  laterSince?: number,
): State {
  const ends = last === undefined ? {} : { first: ms(last), last: ms(last) }
  const file = { size: 2, sha256: DIGEST, ...ends }
  return windowState({ symbol: 'BTCUSDT', interval, startDate }, file, facts, laterSince, { kind })
}

it.each(['static', 'exchange', 'fixed'] as const)(
  '%s: without a valid file a window is missing, whatever is known of it',
  kind => {
    const window = { symbol: 'BTCUSDT', interval: '1h', startDate: '2024-02-01' } as const
    const facts = factsOf(ms('2025-01-01'), ms('2025-01-01'), ms('2024-02-29T23:00Z'))
    expect(windowState(window, undefined, undefined, undefined, { kind })).toBe('missing')
    expect(windowState(window, undefined, facts, 0, { kind })).toBe('missing')
  },
)

it.each<[Interval, string, string]>([
  ['15m', '2025-01-06', '2025-01-12T23:45Z'],
  ['30m', '2024-01-01', '2024-01-14T23:30Z'],
  ['1h', '2024-02-01', '2024-02-29T23:00Z'],
  ['2h', '2017-07-01', '2017-08-31T22:00Z'],
  ['4h', '2024-10-01', '2024-12-31T20:00Z'],
  ['6h', '2024-07-01', '2024-12-31T18:00Z'],
  ['8h', '2024-07-01', '2024-12-31T16:00Z'],
  ['12h', '2024-01-01', '2024-12-31T12:00Z'],
  ['1d', '2022-01-01', '2023-12-31T00:00Z'],
  // These open before the window's end and close after it: the next one belongs to the next window.
  ['3d', '2015-01-01', '2019-12-30T00:00Z'],
  ['3d', '2020-01-01', '2024-12-29T00:00Z'],
  ['1w', '2010-01-01', '2019-12-30T00:00Z'],
  ['1M', '2010-01-01', '2029-12-01T00:00Z'],
])(
  'static: a window is final when its last candle reaches its end, whatever else is known %s %s with the candle of %s',
  (interval, startDate, last) => {
    for (const time of [undefined, '1970-01-01', '2025-02-12', '2100-01-01'].map(text => text && ms(text))) {
      const facts = time === undefined || time === '' ? undefined : factsOf(time, time)
      expect(stateOf('static', [interval, startDate], last, facts)).toBe('final')
    }
  },
)

it.each<[Interval, string, string]>([
  ['15m', '2025-01-06', '2025-01-12T23:30Z'],
  ['1h', '2024-02-01', '2024-02-29T22:00Z'],
  ['2h', '2017-07-01', '2017-08-31T20:00Z'],
  ['1d', '2022-01-01', '2023-12-30T00:00Z'],
  ['3d', '2015-01-01', '2019-12-28T00:00Z'],
  ['1w', '2010-01-01', '2019-12-23T00:00Z'],
  ['1M', '2010-01-01', '2029-11-01T00:00Z'],
])(
  'static: a window whose last candle does not reach its end is open on its own %s %s with the candle of %s',
  (interval, startDate, last) => {
    for (const time of ['1970-01-01', '2025-02-12', '2100-01-01'].map(ms)) {
      expect(stateOf('static', [interval, startDate], last, factsOf(time, time))).toBe('open')
      expect(stateOf('static', [interval, startDate], last)).toBe('open')
      // A copy without its index may lack candles, whatever later windows have.
      expect(stateOf('static', [interval, startDate], last, undefined, 0)).toBe('open')
    }
  },
)

describe('static: an empty or half full window is final only when it was rendered a day after its end, and the service went on', () => {
  const end = ms('2025-01-13')
  it.each<[string, rendered: number | undefined, asked: number, laterSince: number | undefined, State]>([
    ['no later candles', end + 30 * DAY, end + 30 * DAY, undefined, 'open'],
    ['rendered half way through', end - 3 * DAY, end + 30 * DAY, end, 'open'],
    ['rendered at its end', end, end + 30 * DAY, end, 'open'],
    ['rendered 23 h 59 min after its end', end + DAY - MINUTE, end + 30 * DAY, end, 'open'],
    ['rendered a day after its end', end + DAY, end + DAY, end, 'final'],
    ['rendered long after', end + 900 * DAY, end + 900 * DAY, end, 'final'],
    ['later candles of the same answers: an old file beside new ones', end + DAY, end + DAY, end + DAY, 'open'],
    ['later candles 23 h 59 min before', end + 2 * DAY, end + 2 * DAY, end + DAY + MINUTE, 'open'],
    ['later candles a day before', end + 2 * DAY, end + 2 * DAY, end + DAY, 'final'],
    [
      'deployed again late as it was, later candles of a later deploy',
      end + 30 * DAY,
      end + 30 * DAY,
      end + 40 * DAY,
      'open',
    ],
    ['the same, asked for again a day after those', end + 30 * DAY, end + 41 * DAY, end + 40 * DAY, 'final'],
    ['a service that does not say when', undefined, end + 40 * DAY, end, 'open'],
  ])('%s', (_, rendered, asked, laterSince, expected) => {
    for (const last of [undefined, '2025-01-08T00:00Z'])
      expect(stateOf('static', ['15m', '2025-01-06'], last, factsOf(rendered, asked), laterSince)).toBe(expected)
  })
})

describe('exchange: a window is final a day after its end, when it was asked for then', () => {
  const end = ms('2025-02-01')
  it.each<[string, last: string | undefined, asked: number | undefined, State]>([
    ['full, asked for at its end', '2025-01-31T23:00Z', end + MINUTE, 'open'],
    ['full, asked for 23 h 59 min after it', '2025-01-31T23:00Z', end + DAY - MINUTE, 'open'],
    ['full, asked for a day after it', '2025-01-31T23:00Z', end + DAY, 'final'],
    ['full, not known to the index', '2025-01-31T23:00Z', undefined, 'final'],
    ['half full, asked for a day after it', '2025-01-10T00:00Z', end + DAY, 'final'],
    ['half full, asked for before', '2025-01-10T00:00Z', end - DAY, 'open'],
    ['half full, not known to the index', '2025-01-10T00:00Z', undefined, 'open'],
    ['empty, asked for a day after it', undefined, end + DAY, 'final'],
    ['empty, not known to the index', undefined, undefined, 'open'],
  ])('%s', (_, last, asked, expected) => {
    const facts = asked === undefined ? undefined : factsOf(asked, asked)
    for (const laterSince of [undefined, 0])
      expect(stateOf('exchange', ['1h', '2025-01-01'], last, facts, laterSince)).toBe(expected)
  })
})

it.each<[Rules['kind'], string | undefined]>([
  ['static', '2025-01-31T23:00Z'],
  ['static', '2025-01-10T00:00Z'],
  ['static', undefined],
  ['exchange', '2025-01-31T23:00Z'],
  ['exchange', '2025-01-10T00:00Z'],
  ['fixed', '2025-01-31T23:00Z'],
  ['fixed', undefined],
])('%s: a window that the index has with another digest is open, with the last candle %s too', (kind, last) => {
  const late = ms('2026-01-01')
  const window = ['1h', '2025-01-01'] as const
  expect(stateOf(kind, window, last, factsOf(late, late), ms('2025-03-01'))).toBe('final')
  expect(stateOf(kind, window, last, { ...factsOf(late, late), sha256: 'b' }, ms('2025-03-01'))).toBe('open')
})

it('fixed: what was downloaded is final, and so is what reaches its end', () => {
  const window = ['1h', '2024-02-01'] as const
  expect(stateOf('fixed', window, '2024-02-10T00:00Z', factsOf(0, 0))).toBe('final')
  expect(stateOf('fixed', window, '2024-02-29T23:00Z')).toBe('final')
  expect(stateOf('fixed', window, '2024-02-10T00:00Z')).toBe('open')
  expect(stateOf('fixed', window, undefined)).toBe('open')
})
