import { expect, it } from 'vitest'
import { parseObject } from '../../src/candles/json.js'

it.each(['null', '[]', '[{"a":1}]', '"{}"', '1', '{"a":', '', '{} {}'])('%j is no object', text => {
  expect(parseObject(text)).toBeUndefined()
})
