import { brotliCompressSync, gzipSync } from 'node:zlib'
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
const LAST_CHUNK = '0\r\n\r\n'

describe('updateUser', () => {
  it('posts the body as JSON and returns the result', async () => {
    const { server, client } = await startServer()
    expect(await client.updateUser(ID, BODY, 'email')).toEqual(RESULT)
    const [{ method, url, headers, body }] = server.log
    expect({ method, url }).toEqual({ method: 'POST', url: `/api/users/${ID}?notify=email` })
    expect(headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json' })
    expect(JSON.parse(body)).toEqual(BODY)
  })

  it('sends only the given fields', async () => {
    const { server, client } = await startServer()
    await client.updateUser(ID, { profile: { age: 3 } })
    expect(server.log[0]).toMatchObject({ url: `/api/users/${ID}`, body: '{"profile":{"age":3}}' })
  })

  it('uses a path below the base address', async () => {
    const server = await GreetingServer.start({ body: RESULT })
    await createClient(`${server.url}/below/it/`).updateUser(ID, BODY, 'email')
    expect(server.log[0].url).toBe(`/below/it/api/users/${ID}?notify=email`)
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

  it.each(['', '.', '..', '\ud800'])(
    'rejects the id %j, which cannot be part of a path, without a request',
    async id => {
      const { server, client } = await startServer()
      expect(await catchError(client.updateUser(id, BODY))).toMatchObject({ code: 'bad_option' })
      expect(server.log).toEqual([])
    },
  )

  it.each([200, 201, 202])('accepts any success status (%i)', async status => {
    const { client } = await startServer({ status, body: RESULT })
    expect(await client.updateUser(ID, BODY)).toEqual(RESULT)
  })

  it.each([
    ['gzip', gzipSync(JSON.stringify(RESULT))],
    ['br', brotliCompressSync(JSON.stringify(RESULT))],
  ])('decodes %s', async (coding, body) => {
    const { client } = await startServer({ headers: { 'content-encoding': coding }, body })
    expect(await client.updateUser(ID, BODY)).toEqual(RESULT)
  })

  it.each<[string, GreetingAnswer]>([
    ['a web page', { headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html><title>Log in</title>' }],
    ['no body', { status: 204 }],
    ['null', { body: 'null' }],
    ['an array', { body: [RESULT] }],
    ['a success that is a string', { body: { ...RESULT, success: 'true' } }],
    ['no id', { body: { success: true, notify: 'email' } }],
    ['no notify', { body: { success: true, id: ID } }],
    ['an error object with status 200', { body: { statusCode: 400, message: 'No', isError: true } }],
    ['bytes that are not UTF-8', { body: Buffer.from([0x22, 0xff, 0x22]) }],
  ])('rejects %s', async (_, answer) => {
    const { server, client } = await startServer(answer)
    const error = await catchError(client.updateUser(ID, BODY))
    expect(error).toMatchObject({ name: 'KlinesError', code: 'unreachable' })
    expect(error.message).toContain(`${server.url} is not the greeting service`)
    expect(server.log).toHaveLength(1)
  })

  it('describes an unexpected response', async () => {
    const { client } = await startServer({ headers: { 'content-type': 'text/html' }, body: '<p>' })
    expect((await catchError(client.updateUser(ID, BODY))).message).toMatch(/\(text\/html\): it is not JSON\.$/)
  })

  it('rejects a response of 9 MiB', async () => {
    const { client } = await startServer({ body: Buffer.alloc(9 * 1024 * 1024, 0x20) })
    expect((await catchError(client.updateUser(ID, BODY))).message).toMatch(/larger than 8388608 bytes/)
  })

  it.each<[string, RawAnswer]>([
    ['closes', socket => socket.end()],
    ['resets', socket => socket.resetAndDestroy()],
    ['cuts its response', socket => socket.end(rawReply('200 OK', ['Content-Length: 99'], '{"success":true'))],
  ])('is never sent again, even when the server %s', async (_, answer) => {
    const { server, client } = await startRawServer(answer)
    expect(await catchError(client.updateUser(ID, BODY))).toMatchObject({ code: 'unreachable' })
    await turns()
    expect(server.heads).toHaveLength(1)
  })

  it.each([301, 302, 307, 308])('follows no redirect (%i)', async status => {
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

  it.each([400, 401, 403, 404, 405, 409, 413, 415, 418, 422, 451])('of status %i is rejected', async status => {
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
    ['a list of strings', ['one', 'two'], ['one', 'two']],
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
    ['an object', { a: [1, { b: null }] }, ['{"a":[1,{"b":null}]}']],
    ['a number', 7, ['7']],
    ['null', null, ['null']],
    ['a list of lists', [[1], []], ['[1]', '[]']],
    [
      'twelve entries, of which ten are shown',
      Array.from('abcdefghijkl', x => `no ${x}`),
      Array.from('abcdefghij', x => `no ${x}`),
    ],
    ['lines and escapes', [`one\ntwo ${ESC}[31mred`], ['one two [31mred']],
    ['3,000 levels', JSON.parse(`${'['.repeat(3_000)}${']'.repeat(3_000)}`), [`${'['.repeat(200)}...`]],
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

  it('does not repeat a cause that the message contains', async () => {
    const { error } = await refuse(400, { message: 'Bad: age', cause: ['age'] })
    expect(error).toMatchObject({ suggestions: [], data: { cause: ['age'] } })
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

  it.each([408, 500, 502, 503, 504, 520])('of status %i is not a refusal: the service is unreachable', async status => {
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

  it.each([{}, { 'retry-after': 'soon' }])('of status 429 without a time (%j) suggests to try later', async headers => {
    const { error } = await refuse(429, { message: 'Slow down' }, headers as Record<string, string>)
    expect(error).toMatchObject({
      code: 'rate_limited',
      message: expect.stringMatching(/too many requests \(429\): Slow down/),
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

  it('is downloaded after a redirect', async () => {
    const { client } = await startServer((response, { url }) => {
      if (url === '/moved.json') response.end(JSON.stringify(OPENAPI))
      else response.writeHead(301, { location: '/moved.json' }).end()
    })
    expect(await client.getSpec()).toEqual(OPENAPI)
  })

  it.each<[string, unknown]>([
    ['a web page', '<!DOCTYPE html>'],
    ['an array', []],
    ['an object of another kind', { swagger: '2.0' }],
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

  it.each(['application/jsonl; charset=utf-8', 'text/plain; charset=utf-8', 'application/x-ndjson', ''])(
    'may have content type %j',
    async type => {
      const headers: Record<string, string> = type ? { 'content-type': type } : {}
      const { client } = await startServer({ headers, body: tokenLines(WORDS) })
      expect((await readAll(client)).messages).toEqual(WORDS)
    },
  )

  it.each([
    ['CRLF', '{"message":"a"}\r\n{"message":"b"}\r\n'],
    ['blank lines', '\n\r\n{"message":"a"}\n\n \t\n{"message":"b"}\n\n'],
    ['a last line without its end', '{"message":"a"}\n{"message":"b"}'],
    ['a BOM', '\ufeff{"message":"a"}\n{"message":"b"}\n'],
    ['other fields', '{"message":"a","n":1}\n{"isError":false,"message":"b"}\n'],
  ])('may have %s', async (_, body) => {
    const { client } = await startServer({ body })
    expect(await readAll(client)).toEqual({ messages: ['a', 'b'], error: undefined })
  })

  it('yields a token unchanged, with unknown fields', async () => {
    const { client } = await startServer({ body: '{"message":"a","role":"x"}\n' })
    expect((await client.streamTokens().next()).value).toEqual({ message: 'a', role: 'x' })
  })

  it('may be empty', async () => {
    const { client } = await startServer({ body: '' })
    expect(await readAll(client)).toEqual({ messages: [], error: undefined })
  })

  it('is the same wherever it is split, in characters and line ends too', async () => {
    let body: Buffer[] = []
    const { client } = await startRawServer(async socket => {
      socket.setNoDelay().write(rawReply('200 OK', CHUNKED))
      // Delayed, so that one read does not return several parts.
      for (const part of body) {
        socket.write(chunk(part))
        await turns(2)
      }
      socket.write(LAST_CHUNK)
    })
    const word = fc.string({ unit: fc.constantFrom('a', 'ß', '€', '\u{1F30D}', '\n', '"', ' '), maxLength: 6 })
    const words = fc.array(word, { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(words, fc.constantFrom('\n', '\r\n'), fc.integer({ min: 1, max: 9 }), async (all, end, size) => {
        const bytes = Buffer.from(all.map(message => JSON.stringify({ message })).join(end))
        const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => index * size)
        body = starts.map(start => bytes.subarray(start, start + size))
        expect(await readAll(client)).toEqual({ messages: all, error: undefined })
      }),
      { numRuns: 40, examples: [[['ß€\u{1F30D}', 'a'], '\r\n', 1]] },
    )
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
    ['{"isError":true,"reason":{"code":7}}', '{"code":7}'],
    ['{"isError":true,"reason":"","message":"x"}', ''],
    ['{"statusCode":500,"message":"Broken","isError":true}', 'Broken'],
    ['{"isError":true}', 'no reason given'],
    [`{"isError":true,"reason":"${'\\u001b'}[31mred\\nline"}`, '[31mred line'],
  ])('that ends with the line %s is incomplete and reports the reason', async (line, reason) => {
    const { client } = await startServer({ body: `${tokenLines(['a', 'b'])}${line}\n` })
    const { messages, error } = await readAll(client)
    expect(messages).toEqual(['a', 'b'])
    expect(error).toMatchObject({ name: 'KlinesError', code: 'incomplete', data: { tokens: 2 } })
    expect(error?.message).toBe(`The token stream is incomplete: it ended after 2 tokens: the server says ${reason}.`)
  })

  it('that is only an error line is incomplete too', async () => {
    const { client } = await startServer({ body: '{"isError":true,"reason":"no words"}' })
    expect((await readAll(client)).error).toMatchObject({
      code: 'incomplete',
      message: expect.stringContaining('before the first token: the server says no words'),
      data: { tokens: 0 },
    })
  })

  it.each<[string, RawAnswer]>([
    ['before its last chunk', socket => socket.end(chunkedReply(tokenLines(['a', 'b'])))],
    [
      'in a chunk',
      socket => socket.end(Buffer.concat([chunkedReply(tokenLines(['a', 'b'])), Buffer.from('9\r\n{"me')])),
    ],
    ['in a line', socket => socket.end(chunkedReply(tokenLines(['a', 'b']), '{"mess'))],
    [
      'in a character',
      socket => socket.end(chunkedReply(tokenLines(['a', 'b']), Buffer.from('{"message":"ß"}').subarray(0, 13))),
    ],
    [
      'short of its Content-Length',
      socket => socket.end(rawReply('200 OK', ['Content-Length: 999'], tokenLines(['a', 'b']))),
    ],
    [
      'by a reset',
      socket => socket.write(chunkedReply(tokenLines(['a', 'b'])), () => setImmediate(() => socket.resetAndDestroy())),
    ],
    [
      'in a line, without a content-length',
      socket => socket.end(rawReply('200 OK', ['Connection: close'], `${tokenLines(['a', 'b'])}{"mess`)),
    ],
  ])('that is cut %s is incomplete, after all complete tokens', async (_, answer) => {
    const { client } = await startRawServer(answer)
    const { messages, error } = await readAll(client)
    expect(messages).toEqual(['a', 'b'])
    expect(error).toMatchObject({ code: 'incomplete', data: { tokens: 2 } })
  })

  it('that is cut yields all received tokens to a slow reader', async () => {
    const cut = deferred()
    const { client } = await startRawServer(socket => {
      socket.on('close', () => cut.resolve())
      socket.write(chunkedReply(tokenLines(['a'])))
      // Delayed, so that one read does not return several parts.
      setImmediate(() => socket.write(chunk(tokenLines(['b']))))
      setImmediate(() => setImmediate(() => socket.end(chunk(tokenLines(['c'])))))
    })
    const messages: string[] = []
    const error = await catchError(async () => {
      for await (const { message } of client.streamTokens()) {
        messages.push(message)
        await cut.promise
        await turns()
      }
    })
    expect(messages).toEqual(['a', 'b', 'c'])
    expect(error).toMatchObject({ code: 'incomplete', data: { tokens: 3 } })
  })

  it.each<[string, string | Buffer, RegExp]>([
    ['not JSON', '{"message":', /it is not JSON/],
    ['an array', '["a"]', /it is no JSON object/],
    ['null', 'null', /it is no JSON object/],
    ['a string', '"a"', /it is no JSON object/],
    ['an object without a message', '{"text":"a"}', /it is no token/],
    ['a message that is a number', '{"message":1}', /it is no token/],
    ['not UTF-8', Buffer.from([0x7b, 0xff]), /it is not JSON/],
    ['two tokens', '{"message":"a"}{"message":"b"}', /it is not JSON/],
  ])('that goes on with a line that is %s is incomplete', async (_, line, reason) => {
    const body = Buffer.concat([Buffer.from(tokenLines(['a'])), Buffer.from(line), Buffer.from('\n{"message":"z"}\n')])
    const { client } = await startServer({ body })
    const { messages, error } = await readAll(client)
    expect(messages).toEqual(['a'])
    expect(error).toMatchObject({ code: 'incomplete', message: expect.stringMatching(reason) })
  })

  it.each([
    ['a web page', '<!DOCTYPE html>\n<title>Log in</title>', 'text/html'],
    ['another JSON', '[]', 'application/json'],
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

  it('makes the server wait for a slow reader', async () => {
    const line = tokenLines(['x'.repeat(1000)])
    const total = 20_000
    let sent = 0
    const { client } = await startRawServer(socket => {
      socket.write(rawReply('200 OK', CHUNKED))
      const pump = () => {
        while (sent < total) {
          sent++
          if (!socket.write(chunk(line))) return
        }
        socket.write(LAST_CHUNK)
      }
      socket.on('drain', pump)
      pump()
    })
    const stream = client.streamTokens()
    await stream.next()
    // Until the server has stopped sending.
    for (let lastSent = -1; lastSent !== sent; ) {
      lastSent = sent
      await turns(200)
    }
    expect(sent).toBeLessThan(total)
    let count = 1
    for await (const _ of stream) count++
    expect(count).toBe(total)
  })
})

describe('a service that does not answer', () => {
  const calls: [string, (client: GreetingClient) => Promise<unknown>][] = [
    ['updateUser', client => client.updateUser(ID, BODY)],
    ['streamTokens', client => client.streamTokens().next()],
    ['getSpec', client => client.getSpec()],
    ['getKlinesSpec', client => client.getSpec('klines')],
    ['getExportSpec', client => client.getSpec('export')],
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

  it('rejects an invalid base address', async () => {
    expect(await catchError(createClient('http://127.0.0.1:8787/api').getSpec())).toMatchObject({
      code: 'bad_base_url',
      suggestions: ['Did you mean http://127.0.0.1:8787?'],
    })
  })

  it('sends requests while it reads a stream', async () => {
    const server = await GreetingServer.start()
    const client = createClient(server.url)
    const messages: string[] = []
    for await (const { message } of client.streamTokens()) {
      expect(await client.updateUser(ID, BODY, 'email')).toEqual(RESULT)
      messages.push(message)
    }
    expect(messages).toEqual(WORDS)
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
