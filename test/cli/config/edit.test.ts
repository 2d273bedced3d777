import { describe, expect, it } from 'vitest'
import { withoutKey, withValue } from '../../../src/cli/config/file.js'
import { parseKey } from '../../../src/cli/config/keys.js'
import { thrownBy } from '../../support/thrown-by.js'

const FILE = { b: 1, download: { x: 1, y: 2 }, a: 2 }
/** As text, because the order of keys counts. */
const json = JSON.stringify

describe('set', () => {
  it.each([
    ['b', 9, { b: 9, download: { x: 1, y: 2 }, a: 2 }],
    ['c', 9, { b: 1, download: { x: 1, y: 2 }, a: 2, c: 9 }],
    ['download.x', 9, { b: 1, download: { x: 9, y: 2 }, a: 2 }],
    ['mirror verify.z', 9, { b: 1, download: { x: 1, y: 2 }, a: 2, 'mirror verify': { z: 9 } }],
  ])('%s keeps the order and the other keys', (key, value, expected) => {
    expect(json(withValue(FILE, parseKey(key), value))).toBe(json(expected))
  })

  it('does not replace a section by a value, nor a value by a section', () => {
    expect(thrownBy(() => withValue(FILE, parseKey('download'), 1)).code).toBe('bad_config')
    expect(thrownBy(() => withValue(FILE, parseKey('b.x'), 1)).code).toBe('bad_config')
  })
})

describe('unset', () => {
  it.each([
    ['b', { download: { x: 1, y: 2 }, a: 2 }],
    ['download.x', { b: 1, download: { y: 2 }, a: 2 }],
    ['download', { b: 1, a: 2 }],
  ])('%s', (key, expected) => {
    expect(json(withoutKey(FILE, key))).toBe(json(expected))
  })

  it('the last key of a section takes the section with it', () => {
    expect(withoutKey({ download: { x: 1 } }, 'download.x')).toEqual({})
  })

  it('a key with dots as it is in the file', () => {
    expect(withoutKey({ 'a.b': 1, a: { b: 2 } }, 'a.b')).toEqual({ a: { b: 2 } })
  })

  it.each(['c', 'download.z', 'b.x', 'toString', 'download.toString'])('%s, which is not there', key => {
    expect(withoutKey(FILE, key)).toBeUndefined()
  })
})
