import { expect, it } from 'vitest'
import { parseJsonObject } from '../../src/cli/config/file.js'

const parse = (text: string) => parseJsonObject(Buffer.from(text))

it('a JSON object is returned, also behind a byte order mark', () => {
  expect(parse('{"a":[1]}')).toEqual({ object: { a: [1] } })
  expect(parse('\ufeff{"a":[1]}')).toEqual({ object: { a: [1] } })
})

// Line and column are counted by hand: the first word or character that cannot be part of JSON there, or the end of the text.
it.each([
  ['{"a": x}', 1, 7],
  ['{\n  "a": 1,\n}', 3, 1],
  ['{}\n{}', 2, 1],
  ['{"a": "x\ny"}', 1, 9],
  ['{\n  "a": 1', 2, 9],
])('%j is not JSON at line %d, column %d', (text, line, column) => {
  const result = parse(text)
  expect(result).toHaveProperty('problem')
  expect('problem' in result && result.problem).toMatch(/^is not JSON: [A-Z][^\n]+ at line \d+, column \d+$/)
  expect('problem' in result && result.problem).toMatch(new RegExp(` at line ${line}, column ${column}$`))
})

it.each([
  ['{"a": nope}', 'Unexpected "nope" at'],
  ['{"a": /}', "Unexpected token '/' at"],
])('%j: %s', (text, message) => {
  expect(parse(text)).toMatchObject({ problem: expect.stringContaining(message) })
})

it('the message has no excerpt, which could be the whole text', () => {
  expect(parse('{"secret": x}')).toMatchObject({ problem: expect.not.stringContaining('secret') })
})

it.each([
  ['', 'is empty'],
  ['[1]', 'is an array'],
])('%j %s', (text, problem) => {
  expect(parse(text)).toEqual({ problem })
})

it('bytes that are not UTF-8 are refused', () => {
  expect(parseJsonObject(Buffer.from([0x7b, 0xff, 0x7d]))).toEqual({ problem: 'is not UTF-8' })
})
