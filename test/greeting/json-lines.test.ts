import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLines } from '../../src/greeting/lines.js'
import { catchError } from '../support/errors.js'

async function* split(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const edges = [0, ...cuts, bytes.length]
  for (let index = 1; index < edges.length; index++) yield bytes.subarray(edges[index - 1], edges[index])
}

async function readAll(bytes: Buffer | string, cuts: readonly number[] = []): Promise<string[]> {
  const lines: string[] = []
  for await (const line of readLines(split(Buffer.from(bytes), cuts))) lines.push(line)
  return lines
}

describe('readLines', () => {
  it('yields the same lines wherever the bytes are split, in characters and line ends too', async () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'ß', '€', '\u{1F30D}', '"', '\u2028', '\u0085', '{') })
    const lineEnd = fc.constantFrom('\n', '\r\n', '\n\n', '\r\n \n')
    const cuts = fc.array(fc.nat(1000), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(line, lineEnd)), line, cuts, async (lines, last, numbers) => {
        const text = lines.flat().join('') + last
        const bytes = Buffer.from(text)
        const expected = text.split('\n').map(part => part.trim())
        const sorted = numbers.map(number => number % (bytes.length + 1)).sort((a, b) => a - b)
        expect(await readAll(bytes, sorted)).toEqual(expected.filter(part => part !== ''))
      }),
      { numRuns: 500 },
    )
  })

  it('skips blank lines', async () => {
    expect(await readAll('\n\r\n \t\n a \n\n')).toEqual(['a'])
    expect(await readAll('')).toEqual([])
  })

  it.each([
    ['an invalid byte', Buffer.from([0xff])],
    ['a character cut at the end', Buffer.from('ß').subarray(0, 1)],
    ['a surrogate in UTF-8', Buffer.from([0xed, 0xa0, 0x80])],
    ['an overlong character', Buffer.from([0xc0, 0xaf])],
  ])('rejects a line that is not UTF-8 (%s), after the lines before it', async (_, bytes) => {
    const lines: string[] = []
    const error = await catchError(async () => {
      for await (const line of readLines(split(Buffer.concat([Buffer.from('a\nb\n'), bytes]), []))) lines.push(line)
    })
    expect(lines).toEqual(['a', 'b'])
    expect(error).toMatchObject({ kind: 'invalid', message: 'it is not UTF-8' })
  })
})
