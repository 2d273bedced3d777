import { describe, expect, test } from 'vitest'
import { nearest } from '../../src/candles/suggest.js'

describe('nearest', () => {
  const names = ['open_time', 'open', 'high', 'low', 'close', 'close_time', 'volume', 'quote_volume'] as const

  test.each<[string, string | undefined, string]>([
    ['quo', 'quote_volume', 'the only one that starts with it'],
    ['volum', 'volume', 'the only one that starts with it'],
    ['hihg', 'high', 'two neighbours that changed places are one edit'],
    ['cloes_tiem', 'close_time', 'two pairs of neighbours are two edits'],
    ['hxxh', undefined, 'two edits are too many for four letters'],
    ['hig', 'high', 'the only one that starts with it'],
    ['hgh', 'high', 'one edit'],
    ['closetime', 'close_time', 'one edit'],
    ['quotevolum', 'quote_volume', 'two edits in twelve letters'],
    ['qotevoum', undefined, 'four edits are always too many'],
    ['l', undefined, 'one letter does not count as a start, and two edits are too many for three letters'],
    ['lo', 'low', 'the only one that starts with it'],
    ['clo', undefined, 'two start with it, and two edits are too many for five letters'],
    ['xyz', undefined, 'no candidate is close'],
    ['', undefined, 'the text is empty'],
  ])('%j returns %j: %s', (text, expected, _reason) => {
    expect(nearest(text, names)).toBe(expected)
  })
})
