import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cases } from '../../support/cases.js'
import { USER_BODY, USER_TARGET } from '../../support/servers/http-server.js'
import { RawClient, rawPost, sendRaw } from '../../support/servers/raw-client.js'
import * as requests from '../../support/servers/raw-requests.js'
import { deliver, getWindow, recordResponses, WINDOW_PATH } from '../../support/servers/raw-requests.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { makeTree } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const { CONNECT, HEAD_WINDOW, HTTP10_SYMBOLS, LAST_SYMBOLS, SYMBOLS, UNKNOWN, UNMODIFIED_WINDOW, WINDOW } = requests
const GZIP = getWindow('Accept-Encoding: gzip')
const KEEP_ALIVE = Buffer.from(`GET /${WINDOW_PATH} HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n`)
const HTTP10_UNMODIFIED = String(UNMODIFIED_WINDOW).replace('HTTP/1.1', 'HTTP/1.0\r\nConnection: keep-alive')
const GARBAGE = Buffer.from('garbage\r\n\r\n')

const whole = fc.constantFrom(
  ...[SYMBOLS, WINDOW, GZIP, HEAD_WINDOW, UNKNOWN, UNMODIFIED_WINDOW, KEEP_ALIVE, Buffer.from(HTTP10_UNMODIFIED)],
  // Without 100-continue: for a pipelined request Node writes 100 between the header and the body of its response.
  ...['Range: bytes=1-9', 'Content-Length: 3', 'Expect: more'].map(field => getWindow(field)),
)
const cut = fc.tuple(whole, fc.nat(120)).map(([request, end]) => [request.subarray(0, end), request.subarray(end)])

/** Requests in the pieces in which they are sent; most pieces are whole requests. */
const pieces = fc
  .array(
    fc.oneof(
      { weight: 12, arbitrary: whole.map(request => [request]) },
      { weight: 2, arbitrary: cut },
      { weight: 1, arbitrary: cut.map(([start]) => [start]) },
      { weight: 1, arbitrary: fc.tuple(whole, cut).map(([request, [start]]) => [Buffer.concat([request, start])]) },
      { weight: 1, arbitrary: fc.tuple(whole, cut).map(([request, parts]) => [Buffer.concat([request, ...parts])]) },
      { weight: 1, arbitrary: fc.constantFrom([rawPost(USER_TARGET, USER_BODY)], [rawPost('/nope', SYMBOLS)]) },
      { weight: 1, arbitrary: fc.constantFrom([LAST_SYMBOLS], [HTTP10_SYMBOLS], [CONNECT], [GARBAGE]) },
    ),
    { minLength: 2, maxLength: 8 },
  )
  .map(list => list.flat())

/** All bytes that a server sends in response to pieces that arrive one by one. */
async function respond(url: string, sent: readonly Buffer[]): Promise<string> {
  const client = await RawClient.open(url)
  const record = recordResponses(client)
  for (const piece of sent) await deliver(client, piece, url)
  client.socket.end()
  await client.closed
  client.close()
  return record()
}

it('requests get the same responses in any pieces as in one', async () => {
  const { url } = await startTestServer(makeTree(tempFolder()))
  // The coding is computed in the background once, and so is what checks a body; everything else is answered as soon as it is read.
  await sendRaw(url, GZIP)
  await sendRaw(url, rawPost(USER_TARGET, USER_BODY))
  const isSame = fc.asyncProperty(pieces, async sent => {
    expect(await respond(url, sent)).toBe(await respond(url, [Buffer.concat(sent)]))
  })
  // The last one waits for its turn when the client has ended the connection in the middle of its body.
  const last = Buffer.concat([SYMBOLS, getWindow('Content-Length: 3')])
  await fc.assert(isSame, { numRuns: cases(200, 30), examples: [[[SYMBOLS, SYMBOLS, SYMBOLS, last]]] })
})
