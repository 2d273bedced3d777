import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readLines } from '../../src/greeting/client.js'

async function* split(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const edges = [0, ...cuts, bytes.length]
  for (let index = 1; index < edges.length; index++) yield bytes.subarray(edges[index - 1], edges[index])
}

it('yields the same lines wherever the bytes are split, in characters and line ends too', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ß', '€', '\u{1F30D}', '"', '\u2028', '\r', '\n', '{') })
  const cuts = fc.array(fc.nat(1000), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(text, cuts, async (text, numbers) => {
      const bytes = Buffer.from(text)
      const sorted = numbers.map(number => number % (bytes.length + 1)).sort((a, b) => a - b)
      const lines: string[] = []
      for await (const line of readLines(split(bytes, sorted))) lines.push(String(line))
      expect(lines).toEqual(text.split('\n'))
    }),
    { numRuns: 500 },
  )
})

it('takes no line above 1 MiB, whose end may never come', async () => {
  const lines = readLines(split(Buffer.alloc(2 ** 20 + 1, 'x'), [2 ** 20]))
  await expect(lines.next()).rejects.toMatchObject({ kind: 'invalid', message: 'a line is longer than 1048576 bytes' })
})
