import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
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

async function startRawServer(...answers: [RawAnswer, ...RawAnswer[]]) {
  const server = await RawServer.start(...answers)
  return { server, get: () => createTransport(server.url).get(PATH, { signal: signal() }) }
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

  it('that ends when the connection closes is complete', async () => {
    const { get } = await startRawServer(socket => socket.end(rawReply('200 OK', ['Connection: close'], BODY)))
    expect((await get()).body.toString()).toBe(BODY)
  })

  it('in chunks of one byte is complete', async () => {
    const chunks = [...BODY].map(character => `1\r\n${character}\r\n`).join('')
    const { get } = await startRawServer(rawReply('200 OK', ['Transfer-Encoding: chunked'], `${chunks}0\r\n\r\n`))
    expect((await get()).body.toString()).toBe(BODY)
  })

  it('with a content-length that is too small is cut there, and the codec rejects it', async () => {
    const { get } = await startRawServer(rawReply('200 OK', ['Content-Length: 5', 'Connection: close'], BODY))
    expect((await get()).body.toString()).toBe(BODY.slice(0, 5))
  })
})

describe('a connection fault is transient and described as text:', () => {
  const contentLength = `Content-Length: ${BODY.length}`
  const cutAt =
    (bytes: number): RawAnswer =>
    socket =>
      socket.end(rawReply('200 OK', [contentLength], BODY.slice(0, bytes)))

  it.each<[string, RawAnswer, RegExp]>([
    ['closed before headers', socket => socket.end(), /closed by the other side/],
    ['reset before headers', socket => socket.resetAndDestroy(), /connection (reset|closed)/],
    ['closed in the headers', socket => socket.end('HTTP/1.1 200 OK\r\nContent-'), /closed by the other side/],
    ['body cut at byte 0', cutAt(0), /closed by the other side/],
    ['body cut at byte 1', cutAt(1), /closed by the other side/],
    ['body cut in the middle', cutAt(10), /closed by the other side/],
    ['body cut at its last byte', cutAt(BODY.length - 1), /closed by the other side/],
    [
      'reset in the body',
      socket => socket.write(rawReply('200 OK', [contentLength], BODY.slice(0, 9)), () => socket.resetAndDestroy()),
      /connection (reset|closed)/,
    ],
    [
      'chunks cut short',
      socket => socket.end(rawReply('200 OK', ['Transfer-Encoding: chunked'], `5\r\n${BODY.slice(0, 5)}\r\n`)),
      /closed by the other side/,
    ],
    ['not HTTP at all', socket => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), /./],
  ])('%s', async (_, answer, message) => {
    const { get } = await startRawServer(answer)
    const error = await catchError(get())
    expect(error).toMatchObject({ name: 'FetchError', kind: 'transient', unreachable: true })
    expect(error.message).toMatch(message)
  })

  it('connection refused', async () => {
    const server = await RawServer.start('')
    const { url } = server
    await server.stop()
    expect(await catchError(createTransport(url).get(PATH, { signal: signal() }))).toMatchObject({
      name: 'FetchError',
      kind: 'transient',
      unreachable: true,
      message: 'connection refused (ECONNREFUSED)',
    })
  })
})

describe('the cap of 8 MiB', () => {
  it('accepts a body of exactly that size', async () => {
    const server = await TreeServer.start(tempFolder())
    server.always(PATH, { body: Buffer.alloc(8 * 1024 * 1024, 32) })
    expect((await createTransport(server.url).get(PATH, { signal: signal() })).wireBytes).toBe(8 * 1024 * 1024)
  })

  it('cuts an endless body, a permanent error', async () => {
    let sent = 0
    const closed = deferred()
    const { get } = await startRawServer(socket => {
      const block = Buffer.alloc(256 * 1024, 32)
      const pump = () => {
        while (socket.writable) {
          sent += block.length
          if (!socket.write(block)) return
        }
      }
      socket.on('drain', pump).on('close', () => closed.resolve())
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n')
      pump()
    })
    expect(await catchError(get())).toMatchObject({
      kind: 'permanent',
      message: 'the body is larger than 8388608 bytes',
    })
    await closed.promise
    // The buffers of both sides hold more than the cap.
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  it('rejects a content-length of 10 GB before its first byte, and closes the connection', async () => {
    const closed = deferred()
    const { get } = await startRawServer(socket => {
      socket.on('close', () => closed.resolve())
      socket.write(rawReply('200 OK', ['Content-Length: 10000000000']))
    })
    expect(await catchError(get())).toMatchObject({ kind: 'permanent' })
    await closed.promise
  })
})

describe('a redirect', () => {
  const redirectChain = (length: number): [RawAnswer, ...RawAnswer[]] =>
    [
      ...Array.from({ length }, (_, hop) =>
        rawReply(`${[301, 302, 307, 308][hop % 4]} Moved`, [`Location: /hop-${hop + 1}`, 'Content-Length: 0']),
      ),
      rawReply('200 OK', [`Content-Length: ${BODY.length}`], BODY),
    ] as unknown as [RawAnswer, ...RawAnswer[]]

  it('is followed three times', async () => {
    const { server, get } = await startRawServer(...redirectChain(3))
    expect((await get()).body.toString()).toBe(BODY)
    expect(server.heads.map(head => head.split(' ')[1])).toEqual([`/${PATH}`, '/hop-1', '/hop-2', '/hop-3'])
  })

  it('is not followed a fourth time', async () => {
    const { server, get } = await startRawServer(...redirectChain(4))
    expect(await catchError(get())).toMatchObject({ kind: 'permanent', message: 'more than 3 redirects' })
    expect(server.heads).toHaveLength(4)
  })

  it('relative to the requested path is followed', async () => {
    const { server, get } = await startRawServer(
      rawReply('302 Found', ['Location: other.json', 'Content-Length: 0']),
      rawReply('200 OK', [`Content-Length: ${BODY.length}`], BODY),
    )
    await get()
    expect(server.heads[1]).toMatch(/^GET \/api\/klines\/other\.json HTTP/)
  })

  it.each([
    ['without a Location', [], /without a Location/],
    ['to something that is not a URL', ['Location: http://['], /not a URL/],
    ['to another host', ['Location: http://example.com/x'], /another origin, http:\/\/example\.com/],
    ['to another port', ['Location: http://127.0.0.1:9/x'], /another origin/],
    ['to the same host by another name', ['Location: //localhost/x'], /another origin/],
    ['to an address of the local network', ['Location: http://169.254.169.254/latest'], /another origin/],
    ['to a file', ['Location: file:///etc/passwd'], /another origin/],
  ])('%s is a permanent error, and no other host is requested', async (_, headers, message) => {
    const { server, get } = await startRawServer(rawReply('302 Found', [...headers, 'Content-Length: 0']))
    const error = await catchError(get())
    expect(error).toMatchObject({ kind: 'permanent', status: 302 })
    expect(error.message).toMatch(message)
    expect(server.heads).toHaveLength(1)
  })
})

describe('TLS', () => {
  const setEnv = (name: string, value: string) => {
    const before = process.env[name]
    process.env[name] = value
    onTestFinished(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  }

  async function startTlsServer(location: string): Promise<string> {
    const folder = tempFolder()
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const request = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ]
    execFileSync('openssl', [...request, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], { stdio: 'ignore' })
    const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
      response.writeHead(302, { location }).end()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('with a self-signed certificate is a permanent error that names the fault', async () => {
    const error = await catchError(createTransport(await startTlsServer('/')).get(PATH, { signal: signal() }))
    expect(error).toMatchObject({ kind: 'permanent', unreachable: true })
    expect(error.message).toMatch(/^TLS: .*DEPTH_ZERO_SELF_SIGNED_CERT/)
  })

  it('is kept by redirects: a downgrade to http is not followed', async () => {
    const plain = await TreeServer.start(tempFolder())
    const url = await startTlsServer(`${plain.url}/${PATH}`)
    setEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const error = await catchError(createTransport(url).get(PATH, { signal: signal() }))
    expect(error).toMatchObject({ kind: 'permanent', message: expect.stringContaining('another origin') })
    expect(plain.log).toEqual([])
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
