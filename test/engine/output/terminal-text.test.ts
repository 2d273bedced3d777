import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeControls } from '../../../src/candles/text.js'
import { TerminalText } from '../../../src/engine/output/stream.js'
import { oddTexts } from '../../support/oracles/kline-arbitraries.js'

/** What a terminal gets of bytes that come in several chunks. */
function write(bytes: Uint8Array, cuts: readonly number[]): string {
  const terminal = new TerminalText()
  const ends = [...cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return ends.map((end, index) => terminal.next(bytes.subarray(ends[index - 1] ?? 0, end))).join('') + terminal.end()
}

describe('text for a terminal', () => {
  it.each([
    ['1.5,\u001b[31mred\u0007\n', '1.5,\\u001b[31mred\\u0007\n'],
    ['a\rb\tc\n', 'a\\u000db\tc\n'],
    ['\ufeff\u202e\u009b0m币安', '\\ufeff\\u202e\\u009b0m币安'],
    ['["0","\\u001b"]', '["0","\\u001b"]'],
  ])('%j is %j', (text, shown) => {
    expect(write(Buffer.from(text), [])).toBe(shown)
  })

  it('has no control character but line feeds and tabs, wherever the chunks are cut', () => {
    const texts = fc.array(fc.oneof(oddTexts, fc.constantFrom('\u001b[2J', '\u009b', '\u{e0001}', '名', '😀')), {
      maxLength: 8,
    })
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 6 }), (parts, cuts) => {
        const text = parts.join('')
        const shown = write(Buffer.from(text), cuts)
        // UTF-8 has no lone surrogates.
        expect(shown).toBe(escapeControls(Buffer.from(text).toString()))
        expect(shown.replace(/[\n\t]/g, '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
      }),
      { numRuns: 1000 },
    )
  })

  it('ends with what is left of a character that was cut', () => {
    expect(write(Buffer.from('名').subarray(0, 2), [])).toBe('\ufffd')
  })
})
