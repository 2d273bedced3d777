import { brotliCompressSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { GreetingClient, type GreetingClientOptions } from '../../src/greeting-client/client.js'
import { MAX_LINE_BYTES } from '../../src/greeting-client/json-lines.js'
import { openGreetingClient } from '../../src/greeting-client/open.js'
import type { UserUpdate } from '../../src/greeting-client/schema.js'
import { HttpTransport } from '../../src/http/transport.js'
import { deferred, turns, until } from '../support/deferred.js'
import { errorOf } from '../support/errors.js'
import {
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

interface ServiceOptions extends GreetingClientOptions {
  readonly idleMs?: number
}

/** A service that is closed when the test is over. */
function serviceAt(url: string, { idleMs, ...options }: ServiceOptions = {}): GreetingClient {
  const transport = new HttpTransport(url, { connections: 4, idleMs })
  onTestFinished(() => transport.close())
  return new GreetingClient(transport, url, options)
}

async function scripted(answer?: GreetingAnswer, options?: ServiceOptions) {
  const server = await GreetingServer.start(answer)
  return { server, service: serviceAt(server.url, options) }
}

async function raw(answer: RawAnswer, options?: ServiceOptions) {
  const server = await RawServer.start(answer)
  return { server, service: serviceAt(server.url, options) }
}

/** Messages of a stream until it ends, and the error with which it did. */
async function readAll(service: GreetingClient, signal?: AbortSignal) {
  const messages: string[] = []
  try {
    for await (const { message } of service.streamTokens(signal)) messages.push(message)
  } catch (error) {
    return { messages, error: error as Error & Record<string, unknown> }
  }
  return { messages, error: undefined }
}

/** A chunk of a chunked body. */
const chunk = (bytes: string | Buffer) =>
  Buffer.concat([Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')])
const chunkedReply = (...parts: (string | Buffer)[]) => rawReply('200 OK', CHUNKED, Buffer.concat(parts.map(chunk)))
const LAST_CHUNK = '0\r\n\r\n'

describe('updateUser', () => {
  it('posts the body as JSON and gives the answer', async () => {
    const { server, service } = await scripted()
    expect(await service.updateUser(ID, BODY, 'email')).toEqual(RESULT)
    const [{ method, url, headers, body }] = server.log
    expect({ method, url }).toEqual({ method: 'POST', url: `/api/users/${ID}?notify=email` })
    expect(headers).toMatchObject({ 'content-type': 'application/json', accept: 'application/json' })
    expect(JSON.parse(body)).toEqual(BODY)
  })

  it('leaves out what is not given', async () => {
    const { server, service } = await scripted()
    await service.updateUser(ID, { profile: { age: 3 } })
    expect(server.log[0]).toMatchObject({ url: `/api/users/${ID}`, body: '{"profile":{"age":3}}' })
  })

  it('goes below the path of the base address', async () => {
    const server = await GreetingServer.start({ body: RESULT })
    await serviceAt(`${server.url}/below/it/`).updateUser(ID, BODY, 'email')
    expect(server.log[0].url).toBe(`/below/it/api/users/${ID}?notify=email`)
  })

  it('carries any id and notification type, whatever a path or a query would make of them', async () => {
    const { server, service } = await scripted()
    const text = fc.string({ unit: 'grapheme', minLength: 1 })
    const id = text.filter(one => !/^\.{1,2}$/.test(one))
    await fc.assert(
      fc.asyncProperty(id, text, async (id, notify) => {
        expect(await service.updateUser(id, BODY, notify)).toEqual({ success: true, id, notify })
        // No character that has a meaning in a path, and nothing beside the two.
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

  it.each(['', '.', '..', '\ud800'])('refuses the id %j, which no path can carry, and asks nobody', async id => {
    const { server, service } = await scripted()
    expect(await errorOf(service.updateUser(id, BODY))).toMatchObject({ code: 'bad_option' })
    expect(server.log).toEqual([])
  })

  it.each([200, 201, 202])('takes any success status (%i)', async status => {
    const { service } = await scripted({ status, body: RESULT })
    expect(await service.updateUser(ID, BODY)).toEqual(RESULT)
  })

  it.each([
    ['gzip', gzipSync(JSON.stringify(RESULT))],
    ['br', brotliCompressSync(JSON.stringify(RESULT))],
  ])('decodes %s', async (coding, body) => {
    const { service } = await scripted({ headers: { 'content-encoding': coding }, body })
    expect(await service.updateUser(ID, BODY)).toEqual(RESULT)
  })

  it.each<[string, GreetingAnswer]>([
    ['a web page', { headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html><title>Log in</title>' }],
    ['nothing', { status: 204 }],
    ['null', { body: 'null' }],
    ['an array', { body: [RESULT] }],
    ['a success that is text', { body: { ...RESULT, success: 'true' } }],
    ['no id', { body: { success: true, notify: 'email' } }],
    ['no notify', { body: { success: true, id: ID } }],
    ['an error object with status 200', { body: { statusCode: 400, message: 'No', isError: true } }],
    ['bytes that are not UTF-8', { body: Buffer.from([0x22, 0xff, 0x22]) }],
  ])('does not believe %s', async (_, answer) => {
    const { server, service } = await scripted(answer)
    const error = await errorOf(service.updateUser(ID, BODY))
    expect(error).toMatchObject({ name: 'KlinesError', code: 'unreachable' })
    expect(error.message).toContain(`What answers at ${server.url} is not the greeting service`)
    expect(server.log).toHaveLength(1)
  })

  it('says what came instead', async () => {
    const { service } = await scripted({ headers: { 'content-type': 'text/html' }, body: '<p>' })
    expect((await errorOf(service.updateUser(ID, BODY))).message).toMatch(/\(text\/html\): it is not JSON\.$/)
  })

  it('does not take an answer of 9 MiB', async () => {
    const { service } = await scripted({ body: Buffer.alloc(9 * 1024 * 1024, 0x20) })
    expect((await errorOf(service.updateUser(ID, BODY))).message).toMatch(/larger than 8388608 bytes/)
  })

  it.each<[string, RawAnswer]>([
    ['closes', socket => socket.end()],
    ['resets', socket => socket.resetAndDestroy()],
    ['cuts its answer', socket => socket.end(rawReply('200 OK', ['Content-Length: 99'], '{"success":true'))],
  ])('is never sent a second time, also when the other side %s', async (_, answer) => {
    const { server, service } = await raw(answer)
    expect(await errorOf(service.updateUser(ID, BODY))).toMatchObject({ code: 'unreachable' })
    await turns()
    expect(server.heads).toHaveLength(1)
  })

  it.each([301, 302, 307, 308])('follows no redirect (%i)', async status => {
    const { server, service } = await scripted({ status, headers: { location: '/elsewhere' } })
    const error = await errorOf(service.updateUser(ID, BODY))
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining(String(status)) })
    expect(server.log).toHaveLength(1)
  })
})

describe('a refusal', () => {
  const refuse = async (status: number, fields: object, headers: Record<string, string> = {}, now = Date.now) => {
    const body = { statusCode: status, isError: true, ...fields }
    const { server, service } = await scripted({ status, headers, body }, { now })
    return { server, error: await errorOf(service.updateUser(ID, BODY)) }
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
    ['a text', 'age is below 0', ['age is below 0']],
    ['a list of texts', ['one', 'two'], ['one', 'two']],
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
    ['nothing', undefined, []],
  ])('says its cause, a line an entry: %s', async (_, cause, lines) => {
    const { error } = await refuse(400, { message: 'Validation failed', cause })
    expect(error).toMatchObject({
      code: 'rejected',
      message: 'The server refused the update (400): Validation failed.',
    })
    expect(error.suggestions).toEqual(lines)
    expect(error.data).toEqual({ status: 400, ...(lines.length > 0 && { cause: lines }) })
  })

  it('does not say twice what its message says', async () => {
    const { error } = await refuse(400, { message: 'Bad: age', cause: ['age'] })
    expect(error).toMatchObject({ suggestions: [], data: { cause: ['age'] } })
  })

  it('is shown without escape sequences', async () => {
    const { error } = await refuse(400, { message: `${ESC}]0;owned\u0007${ESC}[2JNo\r\nway` })
    expect(error.message).toBe('The server refused the update (400): ]0;owned [2JNo way.')
  })

  it('that is no error object asks whether the address is right', async () => {
    const { service } = await scripted({ status: 404, body: '<!DOCTYPE html><p>Not found' })
    expect(await errorOf(service.updateUser(ID, BODY))).toMatchObject({
      code: 'rejected',
      message: 'The server refused the update (404).',
      suggestions: [expect.stringContaining('--base-url')],
    })
  })

  it.each([408, 500, 502, 503, 504, 520])('of status %i is no refusal: the service is away', async status => {
    const { server, error } = await refuse(status, { message: 'Oops.' })
    expect(error).toMatchObject({
      code: 'unreachable',
      message: `${server.url} answered ${status} when asked for the update: Oops.`,
      suggestions: [expect.stringMatching(/klines serve.*--base-url/)],
    })
    expect(server.log).toHaveLength(1)
  })

  const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
  it.each([
    [429, '90', '2026-01-02T03:05:35Z'],
    [503, 'Fri, 02 Jan 2026 04:00:00 GMT', '2026-01-02T04:00:00Z'],
  ])('of status %i with Retry-After: %s says until when to stay away', async (status, wait, until) => {
    const { server, error } = await refuse(status, { message: 'x' }, { 'retry-after': wait }, () => NOW)
    expect(error).toMatchObject({
      code: 'rate_limited',
      message: `${server.url} answered ${status} and asks to stay away until ${until}.`,
      data: { status, until },
    })
  })

  it.each([{}, { 'retry-after': 'soon' }])('of status 429 without a time (%j) asks for patience', async headers => {
    const { error } = await refuse(429, { message: 'Slow down' }, headers as Record<string, string>)
    expect(error).toMatchObject({
      code: 'rate_limited',
      message: expect.stringMatching(/too often \(429\): Slow down/),
    })
  })

  it('of the stream and of the description says what was refused', async () => {
    const { service } = await scripted({ status: 403, body: { statusCode: 403, message: 'Not you', isError: true } })
    const messages = [await errorOf(service.streamTokens().next()), await errorOf(service.getSpec())]
    expect(messages.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'rejected The server refused the token stream (403): Not you.',
      'rejected The server refused the OpenAPI description (403): Not you.',
    ])
  })
})

describe('an OpenAPI description', () => {
  it('of each API is given as it is', async () => {
    const { server, service } = await scripted()
    expect(await service.getSpec()).toEqual(OPENAPI)
    expect(await service.getKlinesSpec()).toEqual(KLINES_OPENAPI)
    expect(server.log.map(({ url }) => url)).toEqual(['/api/static/openapi.json', '/api/openapi.json'])
  })

  it('is found behind a redirect', async () => {
    const { service } = await scripted((response, { url }) => {
      if (url === '/moved.json') response.end(JSON.stringify(OPENAPI))
      else response.writeHead(301, { location: '/moved.json' }).end()
    })
    expect(await service.getSpec()).toEqual(OPENAPI)
  })

  it.each<[string, unknown]>([
    ['a web page', '<!DOCTYPE html>'],
    ['an array', []],
    ['an object of another kind', { swagger: '2.0' }],
  ])('is not believed to be %s', async (_, body) => {
    const { service } = await scripted({ body })
    expect(await errorOf(service.getSpec())).toMatchObject({ code: 'unreachable' })
  })
})

describe('the token stream', () => {
  it('is asked for as JSON Lines, uncompressed', async () => {
    const { server, service } = await scripted()
    expect(await readAll(service)).toEqual({ messages: WORDS, error: undefined })
    expect(server.log[0]).toMatchObject({
      method: 'GET',
      url: '/api/streams/tokens',
      headers: { accept: 'application/jsonl, application/json', 'accept-encoding': 'identity' },
    })
  })

  it.each(['application/jsonl; charset=utf-8', 'text/plain; charset=utf-8', 'application/x-ndjson', ''])(
    'comes as %j',
    async type => {
      const headers: Record<string, string> = type ? { 'content-type': type } : {}
      const { service } = await scripted({ headers, body: tokenLines(WORDS) })
      expect((await readAll(service)).messages).toEqual(WORDS)
    },
  )

  it.each([
    ['CRLF', '{"message":"a"}\r\n{"message":"b"}\r\n'],
    ['blank lines', '\n\r\n{"message":"a"}\n\n \t\n{"message":"b"}\n\n'],
    ['a last line without its end', '{"message":"a"}\n{"message":"b"}'],
    ['a BOM', '\ufeff{"message":"a"}\n{"message":"b"}\n'],
    ['other fields', '{"message":"a","n":1}\n{"isError":false,"message":"b"}\n'],
  ])('may have %s', async (_, body) => {
    const { service } = await scripted({ body })
    expect(await readAll(service)).toEqual({ messages: ['a', 'b'], error: undefined })
  })

  it('gives a token as it came, with fields of a later version', async () => {
    const { service } = await scripted({ body: '{"message":"a","role":"x"}\n' })
    expect((await service.streamTokens().next()).value).toEqual({ message: 'a', role: 'x' })
  })

  it('may be empty', async () => {
    const { service } = await scripted({ body: '' })
    expect(await readAll(service)).toEqual({ messages: [], error: undefined })
  })

  it('is the same however it is cut on its way, in characters and line ends too', async () => {
    let body: Buffer[] = []
    const { service } = await raw(async socket => {
      socket.setNoDelay().write(rawReply('200 OK', CHUNKED))
      // Apart from each other, so that they are not one read.
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
        const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => at * size)
        body = starts.map(start => bytes.subarray(start, start + size))
        expect(await readAll(service)).toEqual({ messages: all, error: undefined })
      }),
      { numRuns: 40, examples: [[['ß€\u{1F30D}', 'a'], '\r\n', 1]] },
    )
  })

  it('gives each token before the next is sent', async () => {
    const taken = WORDS.map(() => deferred())
    const { service } = await scripted(async response => {
      response.writeHead(200, { 'content-type': 'application/jsonl' })
      for (const [index, word] of WORDS.entries()) {
        response.write(tokenLines([word]))
        await taken[index].promise
      }
      response.end()
    })
    const messages: string[] = []
    for await (const { message } of service.streamTokens()) {
      taken[messages.length].resolve()
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
  ])('that ends with the line %s is incomplete and says why', async (line, reason) => {
    const { service } = await scripted({ body: `${tokenLines(['a', 'b'])}${line}\n` })
    const { messages, error } = await readAll(service)
    expect(messages).toEqual(['a', 'b'])
    expect(error).toMatchObject({ name: 'KlinesError', code: 'incomplete', data: { tokens: 2 } })
    expect(error?.message).toBe(
      `The token stream is not whole, it broke off after 2 tokens: the server says ${reason}.`,
    )
  })

  it('that is an error line alone is incomplete too', async () => {
    const { service } = await scripted({ body: '{"isError":true,"reason":"no words"}' })
    expect((await readAll(service)).error).toMatchObject({
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
      'in a line, without a length to tell',
      socket => socket.end(rawReply('200 OK', ['Connection: close'], `${tokenLines(['a', 'b'])}{"mess`)),
    ],
  ])('that is cut %s is incomplete, after all that came whole', async (_, answer) => {
    const { service } = await raw(answer)
    const { messages, error } = await readAll(service)
    expect(messages).toEqual(['a', 'b'])
    expect(error).toMatchObject({ code: 'incomplete', data: { tokens: 2 } })
  })

  it('that is cut gives a slow reader all that had come', async () => {
    const cut = deferred()
    const { service } = await raw(socket => {
      socket.on('close', () => cut.resolve())
      socket.write(chunkedReply(tokenLines(['a'])))
      // Apart from each other, so that they are not one read.
      setImmediate(() => socket.write(chunk(tokenLines(['b']))))
      setImmediate(() => setImmediate(() => socket.end(chunk(tokenLines(['c'])))))
    })
    const messages: string[] = []
    const error = await errorOf(async () => {
      for await (const { message } of service.streamTokens()) {
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
    ['a text', '"a"', /it is no JSON object/],
    ['an object without a message', '{"text":"a"}', /it is no token/],
    ['a message that is a number', '{"message":1}', /it is no token/],
    ['not UTF-8', Buffer.from([0x7b, 0xff]), /it is not UTF-8/],
    ['two tokens', '{"message":"a"}{"message":"b"}', /it is not JSON/],
  ])('that goes on with a line that is %s is incomplete', async (_, line, words) => {
    const body = Buffer.concat([Buffer.from(tokenLines(['a'])), Buffer.from(line), Buffer.from('\n{"message":"z"}\n')])
    const { service } = await scripted({ body })
    const { messages, error } = await readAll(service)
    expect(messages).toEqual(['a'])
    expect(error).toMatchObject({ code: 'incomplete', message: expect.stringMatching(words) })
  })

  it.each([
    ['a web page', '<!DOCTYPE html>\n<title>Log in</title>', 'text/html'],
    ['another JSON', '[]', 'application/json'],
    ['a compressed body nobody asked for', gzipSync('{"message":"a"}'), 'application/jsonl'],
  ])('that is %s is not believed to be one', async (_, body, type) => {
    const { server, service } = await scripted({ headers: { 'content-type': type }, body })
    const { messages, error } = await readAll(service)
    expect(messages).toEqual([])
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining(`(${type})`) })
    expect(error?.message).toContain(server.url)
  })

  it('takes a line of exactly 1 MiB', async () => {
    const message = 'x'.repeat(MAX_LINE_BYTES - '{"message":""}'.length)
    const { service } = await scripted({ body: tokenLines([message, 'b']) })
    expect((await readAll(service)).messages.map(({ length }) => length)).toEqual([message.length, 1])
  })

  it('refuses a longer line, also one without an end, and hangs up', async () => {
    const closed = deferred()
    let sent = 0
    const { service } = await raw(socket => {
      socket.on('close', () => closed.resolve())
      socket.write(chunkedReply(tokenLines(['a']), '{"message":"'))
      const block = chunk(Buffer.alloc(64 * 1024, 0x78))
      const pump = () => {
        while (socket.writable) {
          sent += block.length
          if (!socket.write(block)) return
        }
      }
      socket.on('drain', pump)
      pump()
    })
    const { messages, error } = await readAll(service)
    expect(messages).toEqual(['a'])
    expect(error).toMatchObject({ code: 'incomplete', message: expect.stringMatching(/longer than 1048576 bytes/) })
    await closed.promise
    // What lies in the buffers of both sides comes on top.
    expect(sent).toBeLessThan(32 * 1024 * 1024)
  })

  it('that falls silent is incomplete', async () => {
    const { service } = await raw(chunkedReply(tokenLines(['a']), '{"mess'), { idleMs: 100 })
    const { messages, error } = await readAll(service)
    expect(messages).toEqual(['a'])
    expect(error).toMatchObject({ code: 'incomplete', message: expect.stringMatching(/the body stopped coming/) })
  })

  it('makes the server wait for a reader that reads nothing, and goes on when it does', async () => {
    const line = tokenLines(['x'.repeat(1000)])
    const total = 20_000
    let sent = 0
    const { service } = await raw(socket => {
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
    const stream = service.streamTokens()
    await stream.next()
    // As long as it takes: until nothing moves any more.
    for (let before = -1; before !== sent; ) {
      before = sent
      await turns(200)
    }
    expect(sent).toBeLessThan(total)
    let count = 1
    for await (const _ of stream) count++
    expect(count).toBe(total)
  })
})

describe('a service that is not there', () => {
  const calls: [string, (service: GreetingClient) => Promise<unknown>][] = [
    ['updateUser', service => service.updateUser(ID, BODY)],
    ['streamTokens', service => service.streamTokens().next()],
    ['getSpec', service => service.getSpec()],
    ['getKlinesSpec', service => service.getKlinesSpec()],
  ]

  it.each(calls)('is said by %s, with the ways on', async (_, call) => {
    const server = await RawServer.start('')
    const { url } = server
    await server.stop()
    expect(await errorOf(call(serviceAt(url)))).toMatchObject({
      code: 'unreachable',
      message: `The greeting service at ${url} cannot be reached: connection refused (ECONNREFUSED).`,
      suggestions: [expect.stringMatching(/klines serve.*--base-url/)],
      data: { baseUrl: url },
    })
  })

  it.each(calls)('that never answers is given up by %s', async (_, call) => {
    const { service } = await raw(() => {}, { idleMs: 100 })
    expect(await errorOf(call(service))).toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/no answer in time/),
    })
  })

  it.each(calls.filter(([name]) => name !== 'streamTokens'))(
    'whose answer drips is given up by %s',
    async (_, call) => {
      const { service } = await raw(
        socket => {
          socket.write(rawReply('200 OK', ['Content-Length: 1000000']))
          const drip = setInterval(() => socket.write(' '), 10)
          socket.on('close', () => clearInterval(drip))
        },
        { answerMs: 150 },
      )
      expect(await errorOf(call(service))).toMatchObject({
        code: 'unreachable',
        message: expect.stringMatching(/no whole answer within 0\.15 s/),
      })
    },
  )
})

describe('an abort', () => {
  it.each<[string, (service: GreetingClient, signal: AbortSignal) => Promise<unknown>]>([
    ['an update', (service, signal) => service.updateUser(ID, BODY, 'none', signal)],
    ['a stream', (service, signal) => service.streamTokens(signal).next()],
    ['a description', (service, signal) => service.getSpec(signal)],
  ])('of %s that is not answered yet rejects with its reason and hangs up', async (_, call) => {
    const { server, service } = await scripted(() => {})
    const controller = new AbortController()
    const reason = new Error('enough')
    const asked = errorOf(call(service, controller.signal))
    await until(() => server.log.length === 1)
    controller.abort(reason)
    expect(await asked).toBe(reason)
    await until(() => server.connections === 0)
  })

  it.each([true, false])(
    'in the middle of a stream rejects with its reason and hangs up (waiting: %s)',
    async waiting => {
      const { server, service } = await scripted(response => {
        response.write(tokenLines(waiting ? ['a'] : ['a', 'b', 'c']))
      })
      const controller = new AbortController()
      const reason = new Error('enough')
      const stream = service.streamTokens(controller.signal)
      expect((await stream.next()).value).toEqual({ message: 'a' })
      const next = waiting ? errorOf(stream.next()) : undefined
      controller.abort(reason)
      expect(await (next ?? errorOf(stream.next()))).toBe(reason)
      await until(() => server.connections === 0)
    },
  )

  it('before the request asks nobody', async () => {
    const { server, service } = await scripted()
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    expect(await errorOf(service.updateUser(ID, BODY, 'none', signal))).toBe(reason)
    expect(await errorOf(service.streamTokens(signal).next())).toBe(reason)
    expect(server.log).toEqual([])
  })

  it('by leaving the loop hangs up', async () => {
    const { server, service } = await scripted(response => {
      response.write(tokenLines(['a', 'b']))
    })
    for await (const { message } of service.streamTokens()) {
      expect(message).toBe('a')
      break
    }
    await until(() => server.connections === 0)
  })

  it('by close ends what is under way', async () => {
    const { server, service } = await scripted(() => {})
    const asked = errorOf(service.getSpec())
    await until(() => server.log.length === 1)
    await service.close()
    expect(await asked).toMatchObject({ code: 'unreachable' })
    await until(() => server.connections === 0)
  })
})

describe('openGreetingService', () => {
  const NAMES = ['HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy']
  const before = new Map(NAMES.map(name => [name, process.env[name]]))
  beforeEach(() => {
    for (const name of NAMES) delete process.env[name]
  })
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })

  async function open(baseUrl: Parameters<typeof openGreetingClient>[0]) {
    const service = await openGreetingClient(baseUrl)
    onTestFinished(() => service.close())
    return service
  }

  it('asks where klines serve serves unless told otherwise', async () => {
    expect((await open({})).baseUrl).toBe('http://127.0.0.1:8787')
  })

  it('refuses what is no base address', async () => {
    expect(await errorOf(openGreetingClient({ baseUrl: 'http://127.0.0.1:8787/api' }))).toMatchObject({
      code: 'bad_base_url',
      suggestions: ['Did you mean http://127.0.0.1:8787?'],
    })
  })

  it('reads a stream and asks for more beside it', async () => {
    const server = await GreetingServer.start()
    const service = await open({ baseUrl: server.url })
    const messages: string[] = []
    for await (const { message } of service.streamTokens()) {
      expect(await service.updateUser(ID, BODY, 'email')).toEqual(RESULT)
      messages.push(message)
    }
    expect(messages).toEqual(WORDS)
  })

  it('goes through a proxy, but not to a server of this process', async () => {
    const server = await GreetingServer.start()
    const proxy = await RawServer.start(socket => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
    process.env.HTTP_PROXY = proxy.url
    const [outside, local] = [
      await open({ baseUrl: server.url }),
      await open({ baseUrl: { name: 'sample', url: server.url } }),
    ]
    expect(await errorOf(outside.getSpec())).toMatchObject({ code: 'unreachable' })
    expect(proxy.heads).toHaveLength(1)
    expect(await local.getSpec()).toEqual(OPENAPI)
    expect(local.baseUrl).toBe('sample')
    expect(proxy.heads).toHaveLength(1)
  })
})
