import { describe, expect, test } from 'vitest'
import { suggest } from '../../src/klines/suggest.js'

describe('the candidate a person most likely meant', () => {
  const names = ['open_time', 'open', 'high', 'low', 'close', 'close_time', 'volume', 'quote_volume'] as const

  test.each<[string, string | undefined, string]>([
    ['quo', 'quote_volume', 'the only one that starts so'],
    ['volum', 'volume', 'the only one that starts so'],
    ['hihg', undefined, 'two edits in a name of four letters are too many'],
    ['hig', 'high', 'the only one that starts so'],
    ['hgh', 'high', 'one edit'],
    ['closetime', 'close_time', 'one edit'],
    ['quotevolum', 'quote_volume', 'two edits in twelve letters'],
    ['qotevoum', undefined, 'four edits are always too many'],
    ['l', undefined, 'one letter is no start, and two edits are too many for a name of three'],
    ['lo', 'low', 'the only one that starts so'],
    ['xyz', undefined, 'nothing is near'],
    ['', undefined, 'nothing was said'],
  ])('%j is %j: %s', (text, meant, _why) => {
    expect(suggest(text, names)).toBe(meant)
  })

  test('is the nearest by edits when several start the same', () => {
    expect(suggest('ope', ['open_time', 'open'])).toBe('open')
  })

  test('is nothing without candidates', () => {
    expect(suggest('abc', [])).toBeUndefined()
  })
})
