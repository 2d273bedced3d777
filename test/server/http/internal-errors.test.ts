import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Mirror } from '../../../src/mirror/mirror.js'
import { startServer } from '../../../src/server/server.js'
import { expectError } from '../../support/servers/error-response.js'
import { USER_TARGET } from '../../support/servers/http-server.js'
import { rawPost, rawRequest, sendRaw } from '../../support/servers/raw-client.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { FULL_WEEKS, makeTree, NOW, weekPath } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const SYMBOLS = '/api/klines/symbols.json'

describe('an internal error', () => {
  it('is a plain 500 for the client, and is passed to onError', async () => {
    const root = makeTree(tempFolder())
    const errors: Error[] = []
    const server = await startServer({ root, now: () => NOW, onError: error => void errors.push(error) })
    onTestFinished(() => server.close())
    const spy = vi.spyOn(Mirror.prototype, 'read').mockImplementation(() => {
      throw new Error(`EIO: ${root}/mirror.json`)
    })
    const missing = rawRequest(`GET /${weekPath('BTCUSDT', FULL_WEEKS[0])}`)
    const response = await sendRaw(server.url, missing)
    spy.mockRestore()
    expect(expectError(response, 500)).toEqual({ statusCode: 500, message: 'Internal error.', isError: true })
    expect(response.body.toString()).not.toContain('mirror')
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(`${root}/mirror.json`)])
    expect((await sendRaw(server.url, rawRequest(`GET ${SYMBOLS}`))).status).toBe(200)
  })
})

describe('a client that is still sending', () => {
  const long = 'x'.repeat(5_000_000)

  it.each([
    [413, 'a body that is too large', rawPost(USER_TARGET, long)],
    [404, 'a body for an unknown path', rawPost('/nope', long)],
  ])('still gets %i: %s', async (status, _, bytes) => {
    const { url } = await startTestServer(makeTree(tempFolder()))
    for (let round = 0; round < 3; round++) expectError(await sendRaw(url, bytes), status)
  })
})
