import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type GreetingOptions,
  getSpec,
  streamTokens,
  type UserUpdateFields,
  updateUser,
} from '../../src/greeting/client.js'
import type { UserUpdate } from '../../src/greeting/schemas.js'
import { deferred, turns, until } from '../support/deferred.js'
import { catchError } from '../support/errors.js'
import {
  EXPORT_OPENAPI,
  type GreetingAnswer,
  GreetingServer,
  KLINES_OPENAPI,
  OPENAPI,
  tokenLines,
  WORDS,
} from '../support/servers/greeting-server.js'
import { type RawAnswer, RawServer, rawReply } from '../support/servers/raw-server.js'

const ID = '123e4567-e89b-12d3-a456-426614174000'
const BODY: UserUpdate = { email: 'a@example.com', profile: { name: 'Ärger & Söhne', age: 30.5 } }
const RESULT = { success: true, id: ID, notify: 'email' }
const ESC = String.fromCharCode(0x1b)
const CHUNKED = ['Content-Type: application/jsonl', 'Transfer-Encoding: chunked']

type GreetingClient = ReturnType<typeof createClient>

/** The operations of one server. */
function createClient(baseUrl: string, limits: GreetingOptions['limits'] = {}) {
  return {
    updateUser: (id: string, fields: UserUpdateFields, notify?: string, signal?: AbortSignal) =>
      updateUser(id, fields, { notify, baseUrl, limits, signal }),
    streamTokens: (signal?: AbortSignal) => streamTokens({ baseUrl, limits, signal }),
    getSpec: (api?: Parameters<typeof getSpec>[0], signal?: AbortSignal) => getSpec(api, { baseUrl, limits, signal }),
  }
}

async function startServer(answer?: GreetingAnswer, limits?: GreetingOptions['limits']) {
  const server = await GreetingServer.start(answer)
  return { server, client: createClient(server.url, limits) }
}

async function startRawServer(answer: RawAnswer, limits?: GreetingOptions['limits']) {
  const server = await RawServer.start(answer)
  return { server, client: createClient(server.url, limits) }
}

/** Reads a stream to its end: its messages, and the error that ended it. */
async function readAll(client: GreetingClient, signal?: AbortSignal) {
  const messages: string[] = []
  try {
    for await (const { message } of client.streamTokens(signal)) messages.push(message)
  } catch (error) {
    return { messages, error: error as Error & Record<string, unknown> }
  }
  return { messages, error: undefined }
}

/** Encodes a chunk of a chunked body. */
const chunk = (bytes: string | Buffer) =>
  Buffer.concat([Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')])
const chunkedReply = (...parts: (string | Buffer)[]) => rawReply('200 OK', CHUNKED, Buffer.concat(parts.map(chunk)))

describe('updateUser', () => {
  it('posts the body as JSON and returns the result', async () => {
    const { server, client } = await startServer()
    expect(await client.updateUser(ID, BODY, 'email')).toEqual(RESULT)
    const [{ method, url, headers, body }] = server.log
    expect({ method, url }).toEqual({ method: 'POST', url: `/api/users/${ID}?notify=email` })
    expect(headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json' })
    expect(JSON.parse(body)).toEqual(BODY)
  })

  it('sends any id and notification type, also characters with a meaning in a path or query', async () => {
    const { server, client } = await startServer()
    const text = fc.string({ unit: 'grapheme', minLength: 1 })
    const id = text.filter(value => !/^\.{1,2}$/.test(value))
    await fc.assert(
      fc.asyncProperty(id, text, async (id, notify) => {
        expect(await client.updateUser(id, BODY, notify)).toEqual({ success: true, id, notify })
        // No character with a meaning in a path, and nothing besides the two.
        expect(server.log.at(-1)?.url).toMatch(/^\/api\/users\/[^/?#]+\?notify=[^&#]+$/)
      }),
      {
        numRuns: 50,
        examples: [
          ['../streams/tokens?a=b#c', 'a&b=c d+e'],
          ['%2e%2e', '%'],
          ['ä \u{1F30D}', '\r\n'],
        ],
      },
    )
  })

  it.each<[string, GreetingAnswer]>([
    ['a web page', { headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html><title>Log in</title>' }],
    ['no body', { status: 204 }],
    ['a success that is a string', { body: { ...RESULT, success: 'true' } }],
    ['no notify', { body: { success: true, id: ID } }],
    ['an error object with status 200', { body: { statusCode: 400, message: 'No', isError: true } }],
  ])('rejects %s', async (_, answer) => {
    const { server, client } = await startServer(answer)
    const error = await catchError(client.updateUser(ID, BODY))
    expect(error).toMatchObject({ name: 'KlinesError', code: 'unreachable' })
    expect(error.message).toContain(`${server.url} is not the greeting service`)
    expect(server.log).toHaveLength(1)
  })

  it.each<[string, RawAnswer]>([
    ['resets', socket => socket.resetAndDestroy()],
    ['cuts its response', socket => socket.end(rawReply('200 OK', ['Content-Length: 99'], '{"success":true'))],
  ])('is never sent again, even when the server %s', async (_, answer) => {
    const { server, client } = await startRawServer(answer)
    expect(await catchError(client.updateUser(ID, BODY))).toMatchObject({ code: 'unreachable' })
    await turns()
    expect(server.heads).toHaveLength(1)
  })

  it.each([302])('follows no redirect (%i)', async status => {
    const { server, client } = await startServer({ status, headers: { location: '/elsewhere' } })
    const error = await catchError(client.updateUser(ID, BODY))
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining(String(status)) })
    expect(server.log).toHaveLength(1)
  })
})

describe('a refusal', () => {
  const refuse = async (status: number, fields: object, headers: Record<string, string> = {}) => {
    const body = { statusCode: status, isError: true, ...fields }
    const { server, client } = await startServer({ status, headers, body })
    return { server, error: await catchError(client.updateUser(ID, BODY)) }
  }

  it.each([400, 404, 422])('of status %i is rejected', async status => {
    const { server, error } = await refuse(status, { message: 'body/profile/age must be >= 0' })
    expect(error).toMatchObject({
      code: 'rejected',
      message: `The server refused the update (${status}): body/profile/age must be >= 0.`,
      suggestions: [],
      data: { status },
    })
    expect(server.log).toHaveLength(1)
  })

  it.each<[string, unknown, string[]]>([
    ['a string', 'age is below 0', ['age is below 0']],
    [
      'a list of validation errors',
      [
        { instancePath: '/profile/age', message: 'must be >= 0', keyword: 'minimum' },
        { path: ['profile', 'name'], message: 'is too short' },
        { field: 'query.notify', message: 'is missing' },
        { message: 'is bad' },
      ],
      ['/profile/age must be >= 0', 'profile.name is too short', 'query.notify is missing', 'is bad'],
    ],
    [
      'twelve entries, of which ten are shown',
      Array.from('abcdefghijkl', x => `no ${x}`),
      Array.from('abcdefghij', x => `no ${x}`),
    ],
    ['lines and escapes', [`one\ntwo ${ESC}[31mred`], ['one two [31mred']],
    ['no cause', undefined, []],
  ])('reports its cause, one line for each entry: %s', async (_, cause, lines) => {
    const { error } = await refuse(400, { message: 'Validation failed', cause })
    expect(error).toMatchObject({
      code: 'rejected',
      message: 'The server refused the update (400): Validation failed.',
    })
    expect(error.suggestions).toEqual(lines)
    expect(error.data).toEqual({ status: 400, ...(lines.length > 0 && { cause: lines }) })
  })

  it('is shown without escape sequences', async () => {
    const { error } = await refuse(400, { message: `${ESC}]0;owned\u0007${ESC}[2JNo\r\nway` })
    expect(error.message).toBe('The server refused the update (400): ]0;owned [2JNo way.')
  })

  it('without an error object suggests to check the address', async () => {
    const { client } = await startServer({ status: 404, body: '<!DOCTYPE html><p>Not found' })
    expect(await catchError(client.updateUser(ID, BODY))).toMatchObject({
      code: 'rejected',
      message: 'The server refused the update (404).',
      suggestions: [expect.stringContaining('--base-url')],
    })
  })

  it.each([408, 429, 500, 503])('of status %i is not a refusal: the service is unreachable', async status => {
    const { server, error } = await refuse(status, { message: 'Oops.' })
    expect(error).toMatchObject({
      code: 'unreachable',
      message: `${server.url} answered ${status} to the update: Oops.`,
      suggestions: [expect.stringMatching(/klines serve.*--base-url/)],
    })
    expect(server.log).toHaveLength(1)
  })

  const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
  it.each([
    [429, '90', 'Too Many Requests', '2026-01-02T03:05:35Z'],
    [503, 'Fri, 02 Jan 2026 04:00:00 GMT', 'Service Unavailable', '2026-01-02T04:00:00Z'],
  ])('of status %i with Retry-After: %s reports the time to wait until', async (status, retryAfter, name, until) => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    onTestFinished(() => void vi.useRealTimers())
    const { server, error } = await refuse(status, { message: 'x' }, { 'retry-after': retryAfter })
    expect(error).toMatchObject({
      code: 'rate_limited',
      message: `${server.url} answered ${status} (${name}): rate limited until ${until}.`,
      data: { status, until },
    })
  })

  it('of the stream and of the description names the request', async () => {
    const { client } = await startServer({ status: 403, body: { statusCode: 403, message: 'Not you', isError: true } })
    const messages = [await catchError(client.streamTokens().next()), await catchError(client.getSpec())]
    expect(messages.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'rejected The server refused the token stream (403): Not you.',
      'rejected The server refused the OpenAPI description (403): Not you.',
    ])
  })
})

describe('an OpenAPI description', () => {
  it('of each API is returned unchanged', async () => {
    const { server, client } = await startServer()
    expect(await client.getSpec()).toEqual(OPENAPI)
    expect(await client.getSpec('klines')).toEqual(KLINES_OPENAPI)
    expect(await client.getSpec('export')).toEqual(EXPORT_OPENAPI)
    const paths = ['/api/static/openapi.json', '/api/openapi.json', '/export/openapi.json']
    expect(server.log.map(({ url }) => url)).toEqual(paths)
  })

  it.each<[string, unknown]>([
    ['a web page', '<!DOCTYPE html>'],
    ['an array', []],
  ])('cannot be %s', async (_, body) => {
    const { client } = await startServer({ body })
    expect(await catchError(client.getSpec())).toMatchObject({ code: 'unreachable' })
  })
})

describe('the token stream', () => {
  it('is requested as JSON Lines, uncompressed', async () => {
    const { server, client } = await startServer()
    expect(await readAll(client)).toEqual({ messages: WORDS, error: undefined })
    expect(server.log[0]).toMatchObject({
      method: 'GET',
      url: '/api/streams/tokens',
      headers: { accept: 'application/jsonl, application/json', 'accept-encoding': 'identity' },
    })
  })

  it('yields each token before the next is sent', async () => {
    const received = WORDS.map(() => deferred())
    const { client } = await startServer(async response => {
      response.writeHead(200, { 'content-type': 'application/jsonl' })
      for (const [index, word] of WORDS.entries()) {
        response.write(tokenLines([word]))
        await received[index].promise
      }
      response.end()
    })
    const messages: string[] = []
    for await (const { message } of client.streamTokens()) {
      received[messages.length].resolve()
      messages.push(message)
    }
    expect(messages).toEqual(WORDS)
  })

  it.each<[string, string | undefined]>([
    ['{"isError":true,"reason":"out of words"}', 'out of words'],
    ['{"statusCode":500,"message":"Broken","isError":true}', 'Broken'],
    [`{"isError":true,"reason":"${'\\u001b'}[31mred\\nline"}`, '[31mred line'],
  ])('that ends with the line %s is incomplete and reports the reason', async (line, reason) => {
    const { client } = await startServer({ body: `${tokenLines(['a', 'b'])}${line}\n` })
    const { messages, error } = await readAll(client)
    expect(messages).toEqual(['a', 'b'])
    expect(error).toMatchObject({ name: 'KlinesError', code: 'incomplete', data: { tokens: 2 } })
    expect(error?.message).toBe(`The token stream is incomplete: it ended after 2 tokens: the server says ${reason}.`)
  })

  it.each<[string, RawAnswer]>([
    [
      'short of its Content-Length',
      socket => socket.end(rawReply('200 OK', ['Content-Length: 999'], tokenLines(['a', 'b']))),
    ],
    [
      'by a reset',
      socket => socket.write(chunkedReply(tokenLines(['a', 'b'])), () => setImmediate(() => socket.resetAndDestroy())),
    ],
  ])('that is cut %s is incomplete, after all complete tokens', async (_, answer) => {
    const { client } = await startRawServer(answer)
    const { messages, error } = await readAll(client)
    expect(messages).toEqual(['a', 'b'])
    expect(error).toMatchObject({ code: 'incomplete', data: { tokens: 2 } })
  })

  it('that is cut before its first token is incomplete, too', async () => {
    const { client } = await startRawServer(socket => socket.end(rawReply('200 OK', ['Content-Length: 9'], '{')))
    expect(await readAll(client)).toMatchObject({ messages: [], error: { code: 'incomplete', data: { tokens: 0 } } })
  })

  it.each([
    ['a web page', '<!DOCTYPE html>\n<title>Log in</title>', 'text/html'],
    ['an unexpected compressed body', gzipSync('{"message":"a"}'), 'application/jsonl'],
  ])('that is %s is rejected', async (_, body, type) => {
    const { server, client } = await startServer({ headers: { 'content-type': type }, body })
    const { messages, error } = await readAll(client)
    expect(messages).toEqual([])
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining(`(${type})`) })
    expect(error?.message).toContain(server.url)
  })

  it('that stops is incomplete', async () => {
    const { client } = await startRawServer(chunkedReply(tokenLines(['a']), '{"mess'), { idleMs: 1_000 })
    const { messages, error } = await readAll(client)
    expect(messages).toEqual(['a'])
    expect(error).toMatchObject({ code: 'incomplete', message: expect.stringMatching(/the body stopped coming/) })
  })
})

describe('a service that does not answer', () => {
  const calls: [string, (client: GreetingClient) => Promise<unknown>][] = [
    ['updateUser', client => client.updateUser(ID, BODY)],
    ['streamTokens', client => client.streamTokens().next()],
    ['getSpec', client => client.getSpec()],
  ]

  it.each(calls)('is an error of %s with suggestions', async (_, call) => {
    const server = await RawServer.start('')
    const { url } = server
    await server.stop()
    expect(await catchError(call(createClient(url)))).toMatchObject({
      code: 'unreachable',
      message: `The greeting service at ${url} cannot be reached: connection refused (ECONNREFUSED).`,
      suggestions: [expect.stringMatching(/klines serve.*--base-url/)],
      data: { baseUrl: url },
    })
  })

  it.each(calls)('times out in %s', async (_, call) => {
    const { client } = await startRawServer(() => {}, { idleMs: 100 })
    expect(await catchError(call(client))).toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/no answer in time/),
    })
  })

  it.each(calls.filter(([name]) => name !== 'streamTokens'))(
    'that sends its response too slowly times out in %s',
    async (_, call) => {
      const { client } = await startRawServer(
        socket => {
          socket.write(rawReply('200 OK', ['Content-Length: 1000000']))
          const drip = setInterval(() => socket.write(' '), 10)
          socket.on('close', () => clearInterval(drip))
        },
        { answerMs: 150 },
      )
      expect(await catchError(call(client))).toMatchObject({
        code: 'unreachable',
        message: expect.stringMatching(/no whole answer within 0\.15 s/),
      })
    },
  )
})

describe('an abort', () => {
  it.each<[string, (client: GreetingClient, signal: AbortSignal) => Promise<unknown>]>([
    ['an update', (client, signal) => client.updateUser(ID, BODY, 'none', signal)],
    ['a stream', (client, signal) => client.streamTokens(signal).next()],
    ['a description', (client, signal) => client.getSpec('greeting', signal)],
  ])('of %s before the response rejects with its reason and closes the connection', async (_, call) => {
    const { server, client } = await startServer(() => {})
    const controller = new AbortController()
    const reason = new Error('enough')
    const result = catchError(call(client, controller.signal))
    await until(() => server.log.length === 1)
    controller.abort(reason)
    expect(await result).toBe(reason)
    await until(() => server.connections === 0)
  })

  it.each([true, false])(
    'in the middle of a stream rejects with its reason and closes the connection (waiting: %s)',
    async waiting => {
      const { server, client } = await startServer(response => {
        response.write(tokenLines(waiting ? ['a'] : ['a', 'b', 'c']))
      })
      const controller = new AbortController()
      const reason = new Error('enough')
      const stream = client.streamTokens(controller.signal)
      expect((await stream.next()).value).toEqual({ message: 'a' })
      const next = waiting ? catchError(stream.next()) : undefined
      controller.abort(reason)
      expect(await (next ?? catchError(stream.next()))).toBe(reason)
      await until(() => server.connections === 0)
    },
  )

  it('before the request sends nothing', async () => {
    const { server, client } = await startServer()
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    expect(await catchError(client.updateUser(ID, BODY, 'none', signal))).toBe(reason)
    expect(await catchError(client.streamTokens(signal).next())).toBe(reason)
    expect(server.log).toEqual([])
  })

  it('by leaving the loop closes the connection', async () => {
    const { server, client } = await startServer(response => {
      response.write(tokenLines(['a', 'b']))
    })
    for await (const { message } of client.streamTokens()) {
      expect(message).toBe('a')
      break
    }
    await until(() => server.connections === 0)
  })
})

describe('the base address', () => {
  const NAMES = ['HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy']
  const originalValues = new Map(NAMES.map(name => [name, process.env[name]]))
  beforeEach(() => {
    for (const name of NAMES) delete process.env[name]
  })
  afterEach(() => {
    for (const [name, value] of originalValues) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })

  it('uses a proxy', async () => {
    const server = await GreetingServer.start()
    const proxy = await RawServer.start(socket => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
    process.env.HTTP_PROXY = proxy.url
    const remote = createClient(server.url)
    expect(await catchError(remote.getSpec())).toMatchObject({ code: 'unreachable' })
    expect(proxy.heads).toHaveLength(1)
  })
})
