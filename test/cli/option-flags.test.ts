import { expect, it } from 'vitest'
import { toFlags } from '../../src/cli/option-flags.js'

it.each([
  ['`concurrency` is 300. Expected a whole number.', '--concurrency is 300. Expected a whole number.'],
  ["`compression: 'zstd'` is not in Node 20.18.1.", '--compression zstd is not in Node 20.18.1.'],
  ["Use `numbers: 'text'`, which keeps every digit.", 'Use --numbers text, which keeps every digit.'],
  ["Not for `timeFormat: 'iso'`; use `timeFormat: 'ms'`.", 'Not for --time-format iso; use --time-format ms.'],
  ['Replace it with `force: true`.', 'Replace it with --force.'],
  ['`port: 0` takes a free one.', '--port 0 takes a free one.'],
  ["Or `baseUrl: 'http://h/it's'`.", "Or --base-url http://h/it's."],
  ["Check `baseUrl`; `baseUrl: 'sample'` needs no network.", 'Check --base-url; --base-url sample needs no network.'],
  ["With {symbol} in `output`, or `format: 'jsonl'`.", 'With {symbol} in -o, or -f jsonl.'],
  ['A finer one with `intervals`.', 'A finer one with -i.'],
  ['`error.data` names every window.', '--json names every window.'],
  ['The `body` of `toString` and `x: 1` stay; so does a file called force.', undefined],
  ['`mirror', undefined],
])('%s', (text, expected = text) => {
  expect(toFlags(text)).toBe(expected)
})
