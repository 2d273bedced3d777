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
