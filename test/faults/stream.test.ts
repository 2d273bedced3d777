import { afterAll, expect, it } from 'vitest'
import { type RawAnswer, RawServer } from '../support/servers/raw-server.js'
import { expectPlainText } from './support/fault-case.js'
import { useFaultScenarios } from './support/fault-scenario.js'
import { toChunk } from './support/responses.js'

const newScenario = useFaultScenarios()
const servers: RawServer[] = []
afterAll(() => Promise.all(servers.map(server => server.stop())))

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/jsonl; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n'
const line = (message: string, end = '\n') => `{"message":${JSON.stringify(message)}}${end}`
const TWO = line('one') + line('two')

/** A chunked body; without `ended` its last chunk is missing. */
function stream(body: string, ended = true): RawAnswer {
  return socket => {
    socket.write(Buffer.concat([Buffer.from(HEAD), toChunk(Buffer.from(body))]))
    socket.end(ended ? '0\r\n\r\n' : '')
  }
}

it.concurrent.each<[string, RawAnswer, string, RegExp | undefined]>([
  ['F57 cut in the middle of a line', stream(`${TWO}{"mess`, false), TWO, /ended after 2 tokens: .*closed/],
  ['F57 ended in the middle of a line', stream(`${TWO}{"mess`), TWO, /ended after 2 tokens: .*not JSON/],
  [
    'F57 an error object in the last line',
    stream(`${TWO}{"isError":true,"reason":"no\\u001b[2J more"}\n`),
    TWO,
    /after 2 tokens: .*no \[2J more/,
  ],
  [
    'F57 a line of 10 MB',
    stream(TWO + line('x'.repeat(10_000_000))),
    TWO,
    /after 2 tokens: .*a line is longer than \d+ bytes/,
  ],
  ['F57 CRLF', stream(line('one', '\r\n') + line('two', '\r\n')), TWO, undefined],
  ['F57 a line that is not a token', stream(`${line('one')}[]\n`), line('one'), /after 1 token: .*no JSON object/],
  ['F57 cut before the first line', stream('{', false), '', /before the first token/],
])('F57 a JSON Lines stream %s: complete lines are printed, then the error', async (_, response, out, message) => {
  const server = await RawServer.listen(response)
  servers.push(server)
  const scenario = await newScenario()
  const run = await scenario.run(['streams', 'tokens', '--base-url', server.url, '-f', 'jsonl'])
  expect(run).toMatchObject({ code: message ? 3 : 0, stdout: out })
  if (message) expect(run.stderr).toMatch(message)
  else expect(run.stderr).toBe('')
  expectPlainText(run.stderr)
  expect(server.heads).toHaveLength(1)
  expect(run.tookMs).toBeLessThan(60_000)
})
