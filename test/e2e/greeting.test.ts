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

const COMMANDS = [
  ['users', 'update', ID, '--age', '3'],
  ['streams', 'tokens'],
  ['openapi', 'klines'],
]

describe('users update', () => {
  it('sends the given fields and prints the result', async () => {
    const { server, update, sent } = await setUp()
    const run = await update('--email', 'a@example.com', '--name', 'A B', '--age', '30', '--notify', 'email')
    expect(run).toMatchObject({ code: 0, stderr: '', stdout: `Updated user ${ID}, notification email.\n` })
    expect(server.log).toHaveLength(1)
    expect(server.log[0]).toMatchObject({ method: 'POST', url: `/api/users/${ID}?notify=email` })
    expect(sent()).toEqual({ email: 'a@example.com', profile: { name: 'A B', age: 30 } })
    expect(await update('--notify', 'none')).toMatchObject({ code: 0 })
    expect([server.log[1].url, sent()]).toEqual([`/api/users/${ID}?notify=none`, {}])
  })

  it('a response without success is exit code 2', async () => {
    const { update } = await setUp({ body: { ...RESULT, success: false } })
    const run = await update('--age', '3')
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(`did not update user ${ID}`)
  })
})

describe('exit code 2: wrong usage, and no request', () => {
  const sandbox = newSandbox()

  it.concurrent.each<[string, string, RegExp[]]>([
    ['nothing to update', 'users update x', [/nothing to update/, /--email.*--notify/]],
    ['an age as text', 'users update x --age three', [/--age.* received: three/, /number/]],
    ['--json with -f jsonl', 'streams tokens --json -f jsonl', [/--json.*-f jsonl/]],
    ['a base address with /api', 'openapi --base-url http://h.test/api', [/http:\/\/h\.test\?/]],
  ])('%s', async (_, command, messages) => {
    const run = await sandbox.call(command.split(' '), { KLINES_GREETING_URL: 'http://127.0.0.1:1' })
    expect(run.code).toBe(2)
    for (const message of messages) expect(run.stdout + run.stderr).toMatch(message)
    expect(command.includes('--json') ? run.stderr : run.stdout).toBe('')
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
    [
      'a web page',
      { headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html>' },
      /not the greeting service.*html/,
    ],
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '3600' } }, /rate limited until 20\d\d-/],
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

  it('prints each token before the next is sent', async () => {
    const printed = WORDS.map(() => deferred())
    const { server, sandbox } = await setUp(async response => {
      for (const [index, word] of WORDS.entries()) {
        response.write(tokenLines([word]))
        await printed[index].promise
      }
      response.end()
    })
    const { child, ended } = sandbox.start(['streams', 'tokens', '--base-url', server.url])
    let seen = ''
    child.stdout?.on('data', bytes => {
      seen += bytes
      for (const index of WORDS.keys()) if (seen === WORDS.slice(0, index + 1).join('')) printed[index].resolve()
    })
    expect(await ended).toMatchObject({ code: 0, stdout: `${TEXT}\n`, stderr: '' })
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

  it('into a reader that stops ends with exit code 0 and closes the connection', async () => {
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
})

describe('a signal', () => {
  it('ends a stream promptly, with exit code 130', async () => {
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
    child.kill('SIGINT')
    const run = await ended
    expect(performance.now() - signalled).toBeLessThan(PROMPT_MS)
    expect(run).toMatchObject({
      code: 130,
      signal: null,
      stdout: 'ab\n',
      stderr: 'klines: Interrupted (SIGINT). What was downloaded is kept; run the same command again to continue.\n',
    })
    await until(() => server.connections === 0)
  })
})

describe('openapi', () => {
  it('prints the description of each API as the server returns it', async () => {
    const { klines } = await setUp()
    const [plain, json, greeting, ofKlines] = await Promise.all([
      klines(['openapi']),
      klines(['openapi', '--json']),
      klines(['openapi', 'greeting']),
      klines(['openapi', 'klines']),
    ])
    for (const run of [plain, json, greeting, ofKlines]) expect(run).toMatchObject({ code: 0, stderr: '' })
    for (const run of [plain, json, greeting]) expect(run.stdout).toBe(`${JSON.stringify(OPENAPI, null, 2)}\n`)
    expect(ofKlines.stdout).toBe(`${JSON.stringify(KLINES_OPENAPI, null, 2)}\n`)
  })
})
