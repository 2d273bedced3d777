import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as requests from '../../support/repeating.js'
import { deliver, getWindow, recordOf, WINDOW_PATH } from '../../support/repeating.js'
import { USER_BODY, USER_TARGET } from '../../support/servers/http-server.js'
import { RawClient, rawPost, sendRaw } from '../../support/servers/raw-client.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { makeTree } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const { CONNECT, HEAD, LAST_SYMBOLS, NONE, OLD_SYMBOLS, SYMBOLS, UNMODIFIED, WINDOW } = requests
const GZIP = getWindow('Accept-Encoding: gzip')
const KEPT = Buffer.from(`GET /${WINDOW_PATH} HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n`)
const KEPT_UNMODIFIED = Buffer.from(String(UNMODIFIED).replace('HTTP/1.1', 'HTTP/1.0\r\nConnection: keep-alive'))
const GARBAGE = Buffer.from('garbage\r\n\r\n')

const whole = fc.constantFrom(
  ...[SYMBOLS, WINDOW, GZIP, HEAD, NONE, UNMODIFIED, KEPT, KEPT_UNMODIFIED],
  ...['Range: bytes=1-9', 'Content-Length: 3', 'Expect: 100-continue', 'Expect: more'].map(field => getWindow(field)),
)
const cut = fc.tuple(whole, fc.nat(120)).map(([request, at]) => [request.subarray(0, at), request.subarray(at)])

/** What is sent, in the pieces in which it is sent; mostly whole requests, without which none comes again. */
const pieces = fc
  .array(
    fc.oneof(
      { weight: 12, arbitrary: whole.map(request => [request]) },
      { weight: 2, arbitrary: cut },
      { weight: 1, arbitrary: cut.map(([start]) => [start]) },
      { weight: 1, arbitrary: fc.tuple(whole, cut).map(([one, [start]]) => [Buffer.concat([one, start])]) },
      { weight: 1, arbitrary: fc.tuple(whole, cut).map(([one, two]) => [Buffer.concat([one, ...two])]) },
      { weight: 1, arbitrary: fc.constantFrom([rawPost(USER_TARGET, USER_BODY)], [rawPost('/nope', SYMBOLS)]) },
      { weight: 1, arbitrary: fc.constantFrom([LAST_SYMBOLS], [OLD_SYMBOLS], [CONNECT], [GARBAGE]) },
    ),
    { minLength: 2, maxLength: 8 },
  )
  .map(list => list.flat())

/** All that a server says to pieces that come one by one. */
async function answered(url: string, sent: readonly Buffer[]): Promise<string> {
  const client = await RawClient.open(url)
  const record = recordOf(client)
  for (const piece of sent) await deliver(client, piece, url)
  client.socket.end()
  await client.closed
  client.close()
  return record()
}

it('in whatever pieces requests come, they are answered as by a server that parses them all', async () => {
  const root = makeTree(tempFolder())
  const [repeating, parsing] = [await startTestServer(root), await startTestServer(root, { log: () => {} })]
  // A coding is made in the background, once; all else is answered as soon as it is read.
  for (const { url } of [repeating, parsing]) await sendRaw(url, GZIP)
  const isSame = fc.asyncProperty(pieces, async sent => {
    expect(await answered(repeating.url, sent)).toBe(await answered(parsing.url, sent))
  })
  await fc.assert(isSame, { numRuns: 200 })
})
