import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLines } from '../../src/greeting-client/json-lines.js'
import { catchError } from '../support/errors.js'

async function* inPieces(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const edges = [0, ...cuts, bytes.length]
  for (let at = 1; at < edges.length; at++) yield bytes.subarray(edges[at - 1], edges[at])
}

async function linesOf(bytes: Buffer | string, cuts: readonly number[] = []): Promise<string[]> {
  const lines: string[] = []
  for await (const line of readLines(inPieces(Buffer.from(bytes), cuts))) lines.push(line)
  return lines
}

describe('lines', () => {
  it('are the same wherever the bytes were cut, in characters and line ends too', async () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'ß', '€', '\u{1F30D}', '"', '\u2028', '\u0085', '{') })
    const lineEnd = fc.constantFrom('\n', '\r\n', '\n\n', '\r\n \n')
    const cuts = fc.array(fc.nat(1000), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(line, lineEnd)), line, cuts, async (lines, last, numbers) => {
        const text = lines.flat().join('') + last
        const bytes = Buffer.from(text)
        const expected = text.split('\n').map(one => one.trim())
        const sorted = numbers.map(number => number % (bytes.length + 1)).sort((a, b) => a - b)
        expect(await linesOf(bytes, sorted)).toEqual(expected.filter(one => one !== ''))
      }),
      { numRuns: 500 },
    )
  })

  it('that are blank are left out', async () => {
    expect(await linesOf('\n\r\n \t\n a \n\n')).toEqual(['a'])
    expect(await linesOf('')).toEqual([])
  })

  it.each([
    ['alone', Buffer.from([0xff])],
    ['cut short at the end', Buffer.from('ß').subarray(0, 1)],
    ['a surrogate in UTF-8', Buffer.from([0xed, 0xa0, 0x80])],
    ['overlong', Buffer.from([0xc0, 0xaf])],
  ])('that are not UTF-8 (%s) are refused after those before', async (_, bytes) => {
    const lines: string[] = []
    const error = await catchError(async () => {
      for await (const line of readLines(inPieces(Buffer.concat([Buffer.from('a\nb\n'), bytes]), []))) lines.push(line)
    })
    expect(lines).toEqual(['a', 'b'])
    expect(error).toMatchObject({ kind: 'invalid', message: 'it is not UTF-8' })
  })
})
