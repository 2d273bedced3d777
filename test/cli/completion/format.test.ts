import { expect, it } from 'vitest'
import { formatCompletion } from '../../../src/cli/completion/complete.js'

const words = (...candidates: { value: string; description?: string }[]) =>
  formatCompletion({ kind: 'words', candidates })

it('the kind comes first, then a candidate a line', () => {
  expect(words({ value: '1h' }, { value: '--format=csv', description: 'A format' })).toBe(
    ':words\n1h\n--format=csv\tA format\n',
  )
  expect(formatCompletion({ kind: 'files', candidates: [] })).toBe(':files\n')
})

it.each(['a\nb', '\u001b[31mred', '$(id)', '币\u200b安'])('leaves out %j', value => {
  expect(words({ value }, { value: 'BTCUSDT' })).toBe(':words\nBTCUSDT\n')
})

it('a description is one line without controls', () => {
  expect(words({ value: 'a', description: 'one\ntwo\t\u001b[31m three\u202e\u2028four' })).toBe(
    ':words\na\tone two [31m three four\n',
  )
})
