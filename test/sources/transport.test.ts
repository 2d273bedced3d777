import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HttpTransport } from '../../src/sources/transport.js'
import { deferred } from '../support/deferred.js'
import { catchError } from '../support/errors.js'
import { type RawAnswer, RawServer, rawReply } from '../support/servers/raw-server.js'
import { TreeServer } from '../support/servers/tree-server.js'
import { tempFolder } from '../support/temp-folder.js'

const PATH = 'api/klines/symbols.json'
const MIB = 1024 * 1024
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
    ['of 8 MiB is taken', 8 * MIB, 'length 8388608'],
    ['that goes on is cut there, and its connection closed', 64 * MIB, 'the body is larger than 8388608 bytes'],
  ])('%s', async (_, bytes, expected) => {
    let [left, sent] = [bytes, 0]
    const server = await RawServer.start(socket => {
      const more = () => {
        while (left > 0 && socket.writable) {
          left -= MIB
          if (!socket.write(Buffer.alloc(MIB))) return
        }
        socket.end()
      }
      socket.on('drain', more).on('close', () => {
        sent = socket.bytesWritten
      })
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n')
      more()
    })
    const reply = createTransport(server.url).get(PATH, { signal: signal() })
    expect(
      await reply.then(
        ({ body }) => `length ${body.length}`,
        ({ message }) => message,
      ),
    ).toBe(expected)
    await expect.poll(() => sent).toBeGreaterThan(8 * MIB)
    expect(sent).toBeLessThan(32 * MIB)
  })

  it('of a redirect is that of its Location, query and all, with the fields of the request', async () => {
    const server = await TreeServer.start(tempFolder())
    server.always(PATH, { status: 303, headers: { location: `list?token=a%20b` } })
    server.always('api/klines/list?token=a%20b', { body: BODY })
    const reply = await createTransport(server.url).get(PATH, {
      signal: signal(),
      headers: { 'if-modified-since': 'x' },
    })
    expect(reply.body.toString()).toBe(BODY)
    expect(server.log[1].headers).toMatchObject({ 'if-modified-since': 'x' })
  })
})

it.each([
  [301, `https://b.test/k/${PATH}`, 'https://b.test/k'],
  [302, `https://b.test/${PATH}`, 'https://b.test'],
  [308, 'https://b.test', 'https://b.test'],
  [302, 'https://b.test', undefined],
  [301, 'https://b.test/other', undefined],
  [301, `https://login.b.test/${PATH}`, undefined],
  [301, 'https://b.test/oauth2/authorize?to=x', undefined],
])('a redirect %i to %s says where the service is: %s', async (status, location, movedTo) => {
  const server = await TreeServer.start(tempFolder())
  server.always(PATH, { status, headers: { location } })
  const error = await catchError(createTransport(server.url).get(PATH, { signal: signal() }))
  expect(error).toMatchObject({ kind: 'permanent', status })
  expect((error as { movedTo?: string }).movedTo).toBe(movedTo)
})

it.each<[string, RawAnswer]>([
  ['before the headers arrive', () => {}],
  ['while the body arrives', socket => socket.write(rawReply('200 OK', ['Content-Length: 100'], 'abc'))],
])('an abort %s rejects with its reason and closes the connection', async (_, answer) => {
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
