import { expect, it } from 'vitest'
import {
  cutToColumns,
  escapeControls,
  escapeMarkup,
  formatBytes,
  formatTime,
  plural,
  quoteWord,
  showValue,
  textColumns,
} from '../../src/candles/text.js'

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [348_800, '348.8 kB'],
  [999_949, '999.9 kB'],
  [999_950, '1.0 MB'],
  [1_000_000, '1.0 MB'],
  [17_300_000, '17.3 MB'],
  [2_500_000_000, '2.5 GB'],
  [1e12, '1.0 TB'],
  [5e15, '5000.0 TB'],
])('%d bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

it.each([
  [0, '0 windows'],
  [1, '1 window'],
  [2, '2 windows'],
  [1234, '1,234 windows'],
])('%d of them are %s', (count, text) => {
  expect(plural(count, 'window')).toBe(text)
  expect(plural(count, 'series')).toBe(text.replace(/windows?/, 'series'))
})

it('what a terminal, a page or a shell could take for a command is escaped, and nothing else', () => {
  expect(escapeControls('a\u202e币\u001b[2J\tb\u2028\n')).toBe('a\\u202e币\\u001b[2J\tb\\u2028\n')
  expect(showValue('\u009b"\n')).toBe('"\\u009b\\"\\n"')
  expect(escapeMarkup(`<a b="c'&">`)).toBe('&#60;a b=&#34;c&#39;&#38;&#34;&#62;')
  expect(['a/b-c.csv', "it's", 'a b', '$x', ''].map(quoteWord)).toEqual([
    'a/b-c.csv',
    `'it'\\''s'`,
    `'a b'`,
    `'$x'`,
    `''`,
  ])
})

it('times are UTC in every time zone', () => {
  expect(formatTime(Date.UTC(2024, 0, 31, 12))).toBe('2024-01-31 12:00')
  expect(formatTime(undefined)).toBe('-')
})

it.each([
  ['BTCUSDT', 7],
  ['币安人生USDT', 12],
  ['한국KRW', 7],
  ['がくふ', 6],
  ['ＢＴＣ', 6],
  ['ÑANDÚ', 5],
  ['हिन्दी', 3],
  ['…', 1],
  ['', 0],
])('%s takes %d columns of a terminal', (text, columns) => {
  expect(textColumns(text)).toBe(columns)
})

it.each([
  ['币安人生USDT', 5, '币安'],
  ['币安人生USDT', 9, '币安人生U'],
  ['BTCUSDT', 3, 'BTC'],
  ['BTC', 9, 'BTC'],
  ['币', 1, ''],
  ['हिन्दी', 1, 'हि'],
])('%s cut to %d columns is %j', (text, columns, cut) => {
  expect(cutToColumns(text, columns)).toBe(cut)
})
