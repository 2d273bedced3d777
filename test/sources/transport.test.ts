import { readFileSync } from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HttpTransport } from '../../src/sources/transport.js'
import { deferred } from '../support/deferred.js'
import { catchError } from '../support/errors.js'
import { type RawAnswer, RawServer, rawReply } from '../support/servers/raw-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { tempFolder } from '../support/temp-folder.js'

const PATH = 'api/klines/symbols.json'
const BODY = '["BTCUSDT","ETHUSDT"]'
const signal = () => new AbortController().signal

/** Creates a transport that is closed after the test. */
function createTransport(url: string, options: { connections?: number } = {}): HttpTransport {
  const transport = new HttpTransport(url, { connections: 4, ...options })
  onTestFinished(() => transport.close())
  return transport
}

describe('requests', () => {
  // Two, not one: undici opens a second while the first is being released.
  it('in sequence share connections', async () => {
    const server = await TreeServer.start(tempFolder())
    server.always(PATH, { body: BODY })
    const transport = createTransport(server.url)
    for (let i = 0; i < 20; i++) await transport.get(PATH, { signal: signal() })
    expect(server.log).toHaveLength(20)
    expect(server.connections).toBeLessThanOrEqual(2)
  })

  it('at once use at most the allowed connections', async () => {
    const server = await TreeServer.start(tempFolder())
    server.always(PATH, { body: BODY })
    const threeRequests = deferred()
    server.hold = () => {
      if (server.log.length >= 3) threeRequests.resolve()
      return threeRequests.promise
    }
    const transport = createTransport(server.url, { connections: 3 })
    await Promise.all(Array.from({ length: 12 }, () => transport.get(PATH, { signal: signal() })))
    expect(server.connections).toBe(3)
    expect(server.peak).toBe(3)
  })

  it('accept JSON, gzip and br, name the tool, and carry added headers', async () => {
    const server = await TreeServer.start(tempFolder())
    server.always(PATH, { body: BODY })
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    await createTransport(server.url).get(PATH, { signal: signal(), headers: { 'if-modified-since': 'x' } })
    expect(server.log[0].headers).toMatchObject({
      accept: 'application/json',
      'accept-encoding': 'gzip, br',
      'user-agent': `klines/${version} node/${process.versions.node}`,
      'if-modified-since': 'x',
    })
  })

  it('use paths below the base address', async () => {
    const server = await TreeServer.start(tempFolder())
    server.always(`static/klines/${PATH}`, { body: BODY })
    const reply = await createTransport(`${server.url}/static/klines/`).get(PATH, { signal: signal() })
    expect(reply.body.toString()).toBe(BODY)
  })
})

describe('a response', () => {
  it.each([
    ['gzip', gzipSync(BODY)],
    ['br', brotliCompressSync(BODY)],
  ])('in %s is decoded, and its size on the wire counted', async (coding, body) => {
    const server = await TreeServer.start(tempFolder())
    server.always(PATH, { headers: { 'content-encoding': coding }, body })
    const reply = await createTransport(server.url).get(PATH, { signal: signal() })
    expect(reply.body.toString()).toBe(BODY)
    expect(reply.wireBytes).toBe(body.length)
  })

  it.each([200, 204, 206, 304, 404, 418, 429, 500, 503])('with status %i is returned, not thrown', async status => {
    const server = await TreeServer.start(tempFolder())
    server.always(PATH, { status, headers: { 'x-one': '1' } })
    const reply = await createTransport(server.url).get(PATH, { signal: signal() })
    expect(reply).toMatchObject({ status, headers: expect.objectContaining({ 'x-one': '1' }) })
  })
})

describe('an abort', () => {
  it.each<[string, RawAnswer]>([
    ['before the headers arrive', () => {}],
    ['while the body arrives', socket => socket.write(rawReply('200 OK', ['Content-Length: 100'], 'abc'))],
  ])('%s rejects with its reason and closes the connection', async (_, answer) => {
    const [requested, closed] = [deferred(), deferred()]
    const server = await RawServer.start((socket, head) => {
      socket.on('close', () => closed.resolve())
      if (typeof answer === 'function') answer(socket, head)
      requested.resolve()
    })
    const controller = new AbortController()
    const reason = new Error('enough')
    const request = createTransport(server.url).get(PATH, { signal: controller.signal })
    await requested.promise
    controller.abort(reason)
    expect(await catchError(request)).toBe(reason)
    await closed.promise
  })
})
