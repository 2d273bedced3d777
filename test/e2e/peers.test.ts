import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pMap from 'p-map'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenApiRPC, StreamRPC, UserRPC } from 'vovk-hello-world'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { filesBelow } from '../support/files-below.js'
import { findPython } from '../support/python.js'
import { ALL_INTERVALS, SAMPLE_TREE } from '../support/sample-tree.js'
import { type ServeProcess, startServeCommand } from '../support/servers/serve-command.js'

const newSandbox = useSandboxes()
const python = findPython()
const PYTHON_CLIENT = fileURLToPath(new URL('../support/servers/python-client.py', import.meta.url))

const STREAM_TEXT = 'A text for this run:  word by word, "quoted" and wörldly.'
const ID = '123e4567-e89b-12d3-a456-426614174000'
const USER = { email: 'john@example.com', profile: { name: 'John Doe', age: 25 } }

/** Every path of each document, written down apart from the sources. */
const DOCUMENTS = {
  '/api/openapi.json': [
    '/api/klines/symbols.json',
    '/api/klines/start-dates/{interval}.json',
    ...ALL_INTERVALS.map(interval => `/api/klines/${interval}/{symbol}/{startDate}.json`),
    '/api/openapi.json',
  ],
  '/api/static/openapi.json': ['/api/users/{id}', '/api/streams/tokens', '/api/static/openapi.json'],
}

const UNKNOWN = ['1d/DOESNOTEXIST/2018-01-01.json', '5m/BTCUSDT/2025-01-06.json', 'start-dates/5m.json', 'nothing.json']

// biome-ignore lint/suspicious/noExplicitAny: a document is read by its own property names.
type Json = any

async function getJson(url: string, init?: RequestInit): Promise<Json> {
  const response = await fetch(url, init)
  expect([url, response.status, response.headers.get('content-type')]).toEqual([
    url,
    200,
    'application/json; charset=utf-8',
  ])
  return response.json()
}

/**
 * What the integration tests of the service's public projects check on their deployed sites, with the base address changed and
 * nothing else. The generated client of the klines API is in `test/server/docs/generated-client.test.ts`.
 */
describe('klines serve passes the checks of its peers', () => {
  const root = SAMPLE_TREE
  let server: ServeProcess
  beforeAll(async () => {
    server = await startServeCommand(newSandbox(), ['--mirror', root, '--stream-text', STREAM_TEXT])
  })
  afterAll(async () => {
    expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
  })

  /** A path of the documents with values for its parameters: one for each symbol and interval of the tree. */
  function fillPath(template: string): string[] {
    if (!template.includes('{symbol}')) {
      const values = template.includes('{interval}') ? ALL_INTERVALS : [ID]
      return values.map(value => template.replace(/\{\w+\}/, value))
    }
    const [interval] = template.split('/').slice(3)
    const folder = join(root, 'api/klines', interval)
    return readdirSync(folder).map(symbol =>
      template.replace('{symbol}', symbol).replace('{startDate}.json', readdirSync(join(folder, symbol))[0]),
    )
  }

  it('every list of start dates and every window equals its file', async () => {
    const files = filesBelow(join(root, 'api')).filter(file => file !== 'klines/symbols.json')
    expect(files.length).toBeGreaterThan(10)
    const check = async (file: string) => {
      const response = await fetch(`${server.url}/api/${file}`)
      const bytes = Buffer.from(await response.arrayBuffer())
      return response.status === 200 && bytes.equals(readFileSync(join(root, 'api', file))) ? [] : [file]
    }
    expect((await pMap(files, check, { concurrency: 8 })).flat()).toEqual([])
  })

  it.each(UNKNOWN)('404 and the error object for the unknown %s', async path => {
    const response = await fetch(`${server.url}/api/klines/${path}`)
    expect([response.status, await response.json()]).toEqual([
      404,
      { statusCode: 404, isError: true, message: expect.any(String) },
    ])
  })

  it.each(Object.entries(DOCUMENTS))('%s lists every path that it answers', async (document, paths) => {
    expect(Object.keys((await getJson(server.url + document)).paths)).toEqual(paths)
  })

  it.each(Object.keys(DOCUMENTS))('%s: servers[0].url joined with any of its paths answers 200', async document => {
    const base = server.url.replace('127.0.0.1', 'localhost')
    const { servers, paths } = await getJson(base + document)
    expect(servers).toEqual([{ url: base }])
    for (const [template, operations] of Object.entries<object>(paths)) {
      for (const method of Object.keys(operations)) {
        const body = JSON.stringify(USER)
        const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
        for (const path of fillPath(template)) {
          const url = `${servers[0].url}${path}${method === 'post' ? '?notify=email' : ''}`
          const response = await fetch(url, method === 'post' ? post : {})
          expect([url, response.status]).toEqual([url, 200])
          await response.arrayBuffer()
        }
      }
    }
  })

  it('the published client updates a user, reads the document and the text that the server was started with', async () => {
    const apiRoot = `${server.url}/api`
    const update = { params: { id: ID }, query: { notify: 'email' as const }, body: USER, apiRoot }
    expect(await UserRPC.updateUser(update)).toEqual({ success: true, id: ID, notify: 'email' })
    const { info, paths } = await OpenApiRPC.getSpec({ apiRoot })
    expect([info.title, info.version]).toEqual(['"Hello World" app API', '1.0.0'])
    expect(paths).toHaveProperty(['/api/streams/tokens'])
    const messages: string[] = []
    for await (const { message } of await StreamRPC.streamTokens({ apiRoot })) messages.push(message)
    expect(messages.join('')).toBe(STREAM_TEXT)
  })

  it.skipIf(python === undefined)('a client in Python reads all of it (skipped without python3)', async () => {
    const args = [PYTHON_CLIENT, `${server.url}/api`, root, 'BTCUSDT', STREAM_TEXT]
    const { stdout, stderr } = await promisify(execFile)(python ?? '', args)
    const windows = filesBelow(join(root, 'api')).filter(file => file.includes('/BTCUSDT/')).length
    expect([stderr, JSON.parse(stdout)]).toEqual(['', { intervals: 12, windows }])
  })
})
