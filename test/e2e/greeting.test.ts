import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FORCED_EXIT, type Run, useSandboxes } from '../support/cli/cli-sandbox.js'
import { deferred, PROMPT_MS, until } from '../support/deferred.js'
import { closedPort } from '../support/servers/closed-port.js'
import {
  type GreetingAnswer,
  GreetingServer,
  KLINES_OPENAPI,
  OPENAPI,
  tokenLines,
  WORDS,
} from '../support/servers/greeting-server.js'

const newSandbox = useSandboxes()
/** A command that ends by itself says nothing of an exit. */
const SAYS_EXIT = { NODE_OPTIONS: `--import=${FORCED_EXIT}` }
const ID = '123e4567-e89b-12d3-a456-426614174000'
const RESULT = { success: true, id: ID, notify: 'email' }
const TEXT = WORDS.join('')
const ESC = String.fromCharCode(0x1b)

/** A sandbox, a server, and `klines` in this process with its address. */
async function setUp(answer?: GreetingAnswer) {
  const server = await GreetingServer.start(answer)
  const sandbox = newSandbox()
  const klines = (args: string[], env?: Record<string, string>) =>
    sandbox.call([...args, '--base-url', server.url], env)
  const update = (...args: string[]) => klines(['users', 'update', ID, ...args])
  const sent = () => JSON.parse(server.log.at(-1)?.body ?? '')
  return { server, sandbox, klines, update, sent }
}

/** The error object that a run printed, and nothing else. */
function parseError(run: Run) {
  expect(run.stderr).toBe('')
  const { error, warnings, ...rest } = JSON.parse(run.stdout)
  expect({ warnings, rest }).toEqual({ warnings: [], rest: {} })
  expect(error.exitCode).toBe(run.code)
  return error
}

const COMMANDS = [['users', 'update', ID, '--age', '3'], ['streams', 'tokens'], ['openapi'], ['openapi', 'klines']]

describe('users update', () => {
  it('sends the given fields and prints the result', async () => {
    const { server, update, sent } = await setUp()
    const run = await update('--email', 'a@example.com', '--name', 'A B', '--age', '30', '--notify', 'email')
    expect(run).toMatchObject({ code: 0, stderr: '', stdout: `Updated user ${ID}, notification email.\n` })
    expect(server.log).toHaveLength(1)
    expect(server.log[0]).toMatchObject({ method: 'POST', url: `/api/users/${ID}?notify=email` })
    expect(sent()).toEqual({ email: 'a@example.com', profile: { name: 'A B', age: 30 } })
  })

  it('prints the response with --json, and nothing with --quiet', async () => {
    const { update } = await setUp()
    const json = await update('--notify', 'email', '--json')
    expect(json).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(json.stdout)).toEqual({ ...RESULT, warnings: [] })
    expect(await update('--notify', 'email', '-q')).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it.each([
    [['--age', '0'], { profile: { age: 0 } }, ''],
    [['--age=-1.5'], { profile: { age: -1.5 } }, ''],
    [['--name', ''], { profile: { name: '' } }, ''],
    [['--email', 'x'], { email: 'x' }, ''],
    [['--notify', 'a&b=c d'], {}, '?notify=a%26b%3Dc%20d'],
  ])('omits fields that are not given: %j', async (args, body, query) => {
    const { server, update, sent } = await setUp()
    expect(await update(...args)).toMatchObject({ code: 0 })
    expect(sent()).toEqual(body)
    expect(server.log[0].url).toBe(`/api/users/${ID}${query}`)
  })

  it('reads its flags and its address from the environment too', async () => {
    const { server, sandbox, sent } = await setUp()
    const env = { KLINES_GREETING_URL: server.url, KLINES_BASE_URL: 'http://127.0.0.1:1', KLINES_FORMAT: 'csv' }
    const run = await sandbox.call(['users', 'update', ID, '--name', 'N'], {
      ...env,
      KLINES_AGE: '7',
      KLINES_NAME: 'M',
    })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(sent()).toEqual({ profile: { name: 'N', age: 7 } })
    const stream = await sandbox.call(['streams', 'tokens'], { ...env, KLINES_TOKENS_FORMAT: 'jsonl' })
    expect(stream).toMatchObject({ code: 0, stdout: tokenLines(WORDS) })
  })

  it('a response without success is exit code 2', async () => {
    const { update } = await setUp({ body: { ...RESULT, success: false } })
    const run = await update('--age', '3')
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(`did not update user ${ID}`)
  })

  it('a response cannot control the terminal', async () => {
    const { update } = await setUp({ body: { ...RESULT, id: `${ESC}[31mx`, notify: 'a\nb' } })
    expect(await update('--age', '3')).toMatchObject({ code: 0, stdout: 'Updated user [31mx, notification a b.\n' })
  })
})

describe('exit code 2: wrong usage, and no request', () => {
  const sandbox = newSandbox()

  it.concurrent.each<[string, string, RegExp[]]>([
    ['nothing to update', 'users update x', [/nothing to update/, /--email.*--notify/]],
    ['no id', 'users update', [/Missing ID\./]],
    ['an id that no path can carry', 'users update .. --age 3', [/"\.\."/, /UUID/]],
    ['an age as text', 'users update x --age three', [/--age is "three"/, /number/]],
    ['an empty age', 'users update x --age=', [/--age is ""/]],
    ['an age in hexadecimal', 'users update x --age 0x1f', [/"0x1f"/]],
    ['an age that is infinite', `users update x --age ${'9'.repeat(400)}`, [/Expected a number/]],
    ['--json with -f jsonl', 'streams tokens --json -f jsonl', [/--json.*-f jsonl/]],
    ['an unknown format', 'streams tokens -f csv', [/csv/, /jsonl/]],
    ['an unknown description', 'openapi binance', [/binance/, /greeting/]],
    ['a base address with /api', 'openapi --base-url http://h.test/api', [/http:\/\/h\.test\?/]],
    ['a base address without a scheme', 'streams tokens --base-url h.test:80', [/http:\/\/h\.test:80/]],
  ])('%s', async (_, command, messages) => {
    const run = await sandbox.call(command.split(' '), { KLINES_GREETING_URL: 'http://127.0.0.1:1' })
    expect(run.code).toBe(2)
    for (const message of messages) expect(run.stdout + run.stderr).toMatch(message)
    expect(command.includes('--json') ? run.stderr : run.stdout).toBe('')
  })

  it('an argument too many', async () => {
    const run = await sandbox.shell('klines streams tokens extra', { KLINES_GREETING_URL: 'http://127.0.0.1:1' })
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('extra') })
  })
})

describe('exit code 2: the server rejects the update', () => {
  const REJECTION = {
    status: 400,
    body: {
      statusCode: 400,
      message: 'body.profile.age must be >= 0 (and 1 more).',
      isError: true,
      cause: [
        { field: 'body.profile.age', message: 'must be >= 0' },
        { field: 'query.notify', message: `is ${ESC}[31mmissing` },
      ],
    },
  }

  it('with its message, its status and the rest of its cause', async () => {
    const { server, update } = await setUp(REJECTION)
    const run = await update('--age=-1')
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toBe(
      'klines: The server refused the update (400): body.profile.age must be >= 0 (and 1 more).\n  query.notify is [31mmissing\n',
    )
    expect(server.log).toHaveLength(1)
  })

  it('as an object with --json', async () => {
    const { update } = await setUp(REJECTION)
    expect(parseError(await update('--age=-1', '--json'))).toMatchObject({
      code: 'rejected',
      exitCode: 2,
      data: { status: 400, cause: ['body.profile.age must be >= 0', 'query.notify is [31mmissing'] },
    })
  })
})

describe('exit code 5: the service is unreachable or answers with something else', () => {
  it.concurrent.each(COMMANDS)(
    '%s %s at an address without a server names it and says what to do',
    async (...command) => {
      const baseUrl = `http://127.0.0.1:${await closedPort()}`
      const run = await newSandbox().call([...command, '--base-url', baseUrl])
      expect(run).toMatchObject({ code: 5, stdout: '' })
      expect(run.stderr).toContain(`klines: The greeting service at ${baseUrl} cannot be reached: connection refused`)
      expect(run.stderr).toMatch(/klines serve.*--base-url/)
    },
  )

  it.each<[string, GreetingAnswer, RegExp]>([
    ['500', { status: 500, body: { statusCode: 500, message: 'Oops', isError: true } }, /answered 500.*Oops/],
    ['408', { status: 408 }, /answered 408/],
    [
      'a web page',
      { headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html>' },
      /not the greeting service.*html/,
    ],
    ['another JSON', { body: {} }, /not the greeting service/],
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '3600' } }, /rate limited until 20\d\d-/],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '3600' } }, /rate limited until 20\d\d-/],
    ['a hang-up', response => response.destroy(), /cannot be reached: connection closed/],
  ])('%s', async (_, answer, words) => {
    const { server, klines } = await setUp(answer)
    const runs = await Promise.all(COMMANDS.map(command => klines(command)))
    for (const run of runs) {
      expect(run).toMatchObject({ code: 5, stdout: '' })
      expect(run.stderr).toMatch(words)
    }
    expect(server.log).toHaveLength(COMMANDS.length)
  })
})

describe('streams tokens', () => {
  it('prints the messages as one text, as an object a line, or as an array', async () => {
    const { klines } = await setUp()
    const command = ['streams', 'tokens']
    const [text, quiet, lines, array] = await Promise.all([
      klines(command),
      klines([...command, '-q']),
      klines([...command, '-f', 'jsonl']),
      klines([...command, '--json']),
    ])
    for (const run of [text, quiet, lines, array]) expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toBe(`${TEXT}\n`)
    expect(quiet.stdout).toBe(`${TEXT}\n`)
    expect(lines.stdout).toBe(tokenLines(WORDS))
    expect(JSON.parse(array.stdout)).toEqual(WORDS.map(message => ({ message })))
  })

  it('prints nothing, or an empty array, without tokens', async () => {
    const { klines } = await setUp({ body: '' })
    expect(await klines(['streams', 'tokens'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(await klines(['streams', 'tokens', '--json'])).toMatchObject({ code: 0, stdout: '[]\n' })
  })

  it.each([
    ['text', word => word],
    ['jsonl', word => tokenLines([word])],
  ] as [string, (word: string) => string][])(
    'prints each token before the next is sent (%s)',
    async (format, shown) => {
      const printed = WORDS.map(() => deferred())
      const { server, sandbox } = await setUp(async response => {
        for (const [index, word] of WORDS.entries()) {
          response.write(tokenLines([word]))
          await printed[index].promise
        }
        response.end()
      })
      const { child, ended } = sandbox.start(['streams', 'tokens', '-f', format, '--base-url', server.url])
      let seen = ''
      child.stdout?.on('data', bytes => {
        seen += bytes
        for (const index of WORDS.keys()) {
          if (
            seen ===
            WORDS.slice(0, index + 1)
              .map(shown)
              .join('')
          )
            printed[index].resolve()
        }
      })
      const run = await ended
      expect(run).toMatchObject({ code: 0, stderr: '' })
      expect(run.stdout.trimEnd()).toBe(WORDS.map(shown).join('').trimEnd())
    },
  )

  it('cannot control the terminal as text, and is exact as JSON', async () => {
    const message = `a${ESC}[31mb\u0007\u009b\r\n\tc\u200d`
    const { klines } = await setUp({ body: tokenLines([message]) })
    expect((await klines(['streams', 'tokens'])).stdout).toBe('a[31mb\n\tc\u200d\n')
    const { stdout } = await klines(['streams', 'tokens', '-f', 'jsonl'])
    expect(JSON.parse(stdout)).toEqual({ message })
  })

  it.each<[string, GreetingAnswer, RegExp]>([
    [
      'ends with an error line',
      { body: `${tokenLines(['a', 'b'])}{"isError":true,"reason":"no words"}\n` },
      /after 2 tokens: the server says no words/,
    ],
    [
      'is cut off',
      response => {
        response.write(tokenLines(['a', 'b']), () => response.destroy())
      },
      /after 2 tokens: connection closed/,
    ],
    ['continues with something else', { body: `${tokenLines(['a', 'b'])}<html>` }, /after 2 tokens: .*not JSON/],
  ])('that %s prints the tokens before that, with exit code 3', async (_, answer, words) => {
    const { klines } = await setUp(answer)
    const text = await klines(['streams', 'tokens'])
    expect(text).toMatchObject({ code: 3, stdout: 'ab\n' })
    expect(text.stderr).toMatch(words)
    const lines = await klines(['streams', 'tokens', '-f', 'jsonl'])
    expect(lines).toMatchObject({ code: 3, stdout: tokenLines(['a', 'b']), stderr: text.stderr })
    const error = parseError(await klines(['streams', 'tokens', '--json']))
    expect(error).toMatchObject({ code: 'incomplete', exitCode: 3, data: { tokens: 2 } })
  })

  const itIsRead = it

  itIsRead('into a reader that stops ends with exit code 0 and closes the connection', async () => {
    const { server, sandbox } = await setUp(async response => {
      for (let count = 0; !response.destroyed; count++) {
        response.write(tokenLines([`${count} `]))
        await new Promise(resolve => setTimeout(resolve, 1))
      }
    })
    const script = `klines streams tokens --base-url ${server.url} | head -c 10; echo "\${PIPESTATUS[@]}"`
    expect(await sandbox.shell(script)).toMatchObject({ stdout: '0 1 2 3 4 0 0\n', stderr: '' })
    await until(() => server.connections === 0)
  })

  itIsRead('into a slow reader loses nothing', async () => {
    const words = Array.from({ length: 20_000 }, (_, index) => `word ${index} `)
    const { server, sandbox } = await setUp({ body: tokenLines(words) })
    const script = `set -o pipefail; klines streams tokens --base-url ${server.url} | { sleep 1; cat; }`
    const run = await sandbox.shell(script)
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toBe(`${words.join('')}\n`)
  })
})

describe('a signal', () => {
  const itEnds = it

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends a stream with exit code %i promptly', async (signal, code) => {
    const { server, sandbox } = await setUp(response => {
      response.write(tokenLines(['a', 'b']))
    })
    const { child, ended } = sandbox.start(['streams', 'tokens', '--base-url', server.url], SAYS_EXIT)
    let seen = ''
    child.stdout?.on('data', bytes => {
      seen += bytes
    })
    await until(() => seen === 'ab')
    const signalled = performance.now()
    child.kill(signal)
    const run = await ended
    expect(performance.now() - signalled).toBeLessThan(PROMPT_MS)
    expect(run).toMatchObject({ code, signal: null, stdout: 'ab\n', stderr: `klines: Interrupted (${signal}).\n` })
    await until(() => server.connections === 0)
  })

  itEnds('ends a stream whose reader reads nothing', async () => {
    const { server, sandbox } = await setUp(response => {
      const pump = () => {
        while (response.write(tokenLines(['x'.repeat(1000)])));
      }
      response.on('drain', pump)
      pump()
    })
    // More than the pipe holds comes after what is read.
    const script = `mkfifo stalled; { head -c 100000 >/dev/null; : >stopped; exec sleep 60; } <stalled & reader=$!
      klines streams tokens --base-url ${server.url} >stalled & tool=$!
      until [ -e stopped ]; do sleep 0.1; done; kill -INT $tool; wait $tool; echo $?; kill $reader`
    const run = await sandbox.shell(script)
    // A command that had to be killed would print nothing.
    expect(run).toMatchObject({ stdout: '130\n', stderr: 'klines: Interrupted (SIGINT).\n' })
    expect(run.tookMs).toBeLessThan(50_000)
  })

  for (const command of COMMANDS)
    itEnds(`ends ${command.slice(0, 2).join(' ')} that waits for an answer`, async () => {
      const { server, sandbox } = await setUp(() => {})
      const { child, ended } = sandbox.start([...command, '--base-url', server.url], SAYS_EXIT)
      await until(() => server.log.length === 1)
      const signalled = performance.now()
      child.kill('SIGINT')
      expect(await ended).toMatchObject({
        code: 130,
        signal: null,
        stdout: '',
        stderr: 'klines: Interrupted (SIGINT).\n',
      })
      expect(performance.now() - signalled).toBeLessThan(PROMPT_MS)
    })

  itEnds('with --json is reported as an object', async () => {
    const { server, sandbox } = await setUp(response => {
      response.write(tokenLines(['a']))
    })
    const { child, ended } = sandbox.start(['streams', 'tokens', '--json', '--base-url', server.url])
    await until(() => server.log.length === 1)
    child.kill('SIGTERM')
    expect(parseError(await ended)).toMatchObject({ code: 'interrupted', exitCode: 143 })
  })
})

describe('openapi', () => {
  it('prints the description of each API as the server returns it', async () => {
    const { server, sandbox, klines } = await setUp()
    const [plain, json, greeting, ofKlines] = await Promise.all([
      klines(['openapi']),
      klines(['openapi', '--json']),
      klines(['openapi', 'greeting']),
      klines(['openapi', 'klines']),
    ])
    for (const run of [plain, json, greeting, ofKlines]) expect(run).toMatchObject({ code: 0, stderr: '' })
    for (const run of [plain, json, greeting]) expect(run.stdout).toBe(`${JSON.stringify(OPENAPI, null, 2)}\n`)
    expect(ofKlines.stdout).toBe(`${JSON.stringify(KLINES_OPENAPI, null, 2)}\n`)
    expect(await sandbox.shell(`klines openapi --base-url ${server.url} > api.json`)).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(sandbox.path('api.json'), 'utf8'))).toEqual(OPENAPI)
  })
})

it('--base-url sample is exit code 2: the sample has no greeting API', async () => {
  const run = await newSandbox().call(['openapi', '--base-url', 'sample'])
  expect(run).toMatchObject({ code: 2, stdout: '' })
  expect(run.stderr).toMatch(
    /^klines: "sample" is the sample, which has candles alone\. .*\n {2}klines serve starts one/,
  )
})
