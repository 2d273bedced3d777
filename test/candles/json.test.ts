import { expect, it } from 'vitest'
import { decodeUtf8, parseObject } from '../../src/candles/json.js'

it.each(['null', '[]', '[{"a":1}]', '"{}"', '1', '{"a":', '', '{} {}'])('%j is no object', text => {
  expect(parseObject(text)).toBeUndefined()
})

it('bytes that are not UTF-8 are refused, and a byte order mark is dropped', () => {
  expect(decodeUtf8(Buffer.from('\uFEFF{"a":"é"}'))).toBe('{"a":"é"}')
  expect(() => decodeUtf8(Buffer.from([0x22, 0xff, 0x22]))).toThrow(TypeError)
})
