import { describe, expect, it } from 'vitest'
import { SAMPLE_TREE } from '../../support/sample-tree.js'
import { startTestServer } from '../../support/servers/test-server.js'

/** The messages of a server's token stream. */
async function streamMessages(streamText?: string): Promise<string[]> {
  const { request } = await startTestServer(SAMPLE_TREE, { streamText })
  const { status, headers, body } = await request('/api/streams/tokens')
  expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
  return String(body)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line).message)
}

describe('the text of the token stream', () => {
  it('is by default the one it always was; each comes word by word, and whole', async () => {
    const text = 'Hello! A candle has an open, a high, a low and a close. Take each word as it comes.'
    const given = [
      ['one'],
      ['Two', ' words.'],
      ['  spaces', '  between,', '\nlines', '\tand', ' tabs \n'],
      ['back-end', ' 🌍', ' "quoted"', ' wörld', ' \u2028 \\'],
    ]
    const streamed = await Promise.all([streamMessages(), ...given.map(words => streamMessages(words.join('')))])
    expect(streamed).toEqual([text.split(/(?= )/), ...given])
  })
})
