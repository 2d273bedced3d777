import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { filesBelow } from '../../support/files-below.js'
import { ALL_INTERVALS, SAMPLE_TREE } from '../../support/sample-tree.js'
import { useServerOver } from '../../support/servers/test-server.js'

const ID = '123e4567-e89b-12d3-a456-426614174000'
const USER = { email: 'a@example.com', profile: { name: 'Ada', age: 30 } }

// biome-ignore lint/suspicious/noExplicitAny: the tests check what the document contains.
type Json = any

const readJson = (response: Response): Promise<Json> => response.json()

const VALID = 'No errors'

/** One server for a group of tests, and `validate`, which checks a response body against the server's own document. */
function useDescribedServer(document: string) {
  const server = useServerOver(() => SAMPLE_TREE, { streamText: 'Three short words.' })
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  let spec: Json
  beforeAll(async () => {
    spec = await readJson(await fetch(server.url() + document))
    ajv.addSchema(spec, 'spec')
  })
  const validate = (path: string, method: string, status: number, value: unknown, type = 'application/json') => {
    const { responses } = spec.paths[path][method]
    const name = responses[status] ? String(status) : 'default'
    const keys = ['paths', path, method, 'responses', name, 'content', type, 'schema']
    const pointer = keys.map(key => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
    ajv.validate({ $ref: `spec#/${pointer}` }, value)
    return ajv.errorsText()
  }
  return { url: server.url, validate }
}

describe('responses match the klines document', () => {
  const { url, validate } = useDescribedServer('/api/openapi.json')

  it('files of each path of the sample', async () => {
    const files = filesBelow(join(SAMPLE_TREE, 'api'))
    const seen = new Map<string, number>()
    for (const file of files) {
      const path = `/api/${file
        .replace(/(start-dates)\/\w+/, '$1/{interval}')
        .replace(/[A-Z]+USDT\/\d{4}-\d{2}-\d{2}/, '{symbol}/{startDate}')}`
      seen.set(path, (seen.get(path) ?? 0) + 1)
      if (Number(seen.get(path)) > 2) continue
      expect(validate(path, 'get', 200, await (await fetch(`${url()}/api/${file}`)).json()), file).toBe(VALID)
    }
    expect(seen.size).toBe(2 + ALL_INTERVALS.length)
  })

  it('and a slightly different body is rejected', async () => {
    const path = '/api/klines/1h/{symbol}/{startDate}.json'
    const [row] = JSON.parse(readFileSync(join(SAMPLE_TREE, 'api/klines/1h/BTCUSDT/2025-01-01.json'), 'utf8'))
    expect(validate(path, 'get', 200, [row])).toBe(VALID)
    for (const wrong of [row.slice(0, 11), [...row, '0'], row.with(0, '1'), row.with(1, 1), row.with(1, '1e3')]) {
      expect(validate(path, 'get', 200, [wrong])).not.toBe(VALID)
    }
    expect(validate('/api/klines/symbols.json', 'get', 200, ['DOGEUSD'])).not.toBe(VALID)
    expect(validate('/api/klines/start-dates/{interval}.json', 'get', 200, [20250230])).not.toBe(VALID)
  })

  it.each([
    ['/api/klines/1h/BTCUSDT/2025-01-02.json', 404, {}],
    ['/api/klines/1h/BTCUSDT/2025-01-01.json', 405, { method: 'DELETE' }],
    ['/api/klines/1h/BTCUSDT/2025-01-01.json', 416, { headers: { range: 'bytes=9999999-' } }],
    ['/api/klines/1h/BTCUSDT/%', 400, {}],
    [`/api/klines/${'x'.repeat(5000)}`, 414, {}],
  ])('%s: error %i', async (target, status, init) => {
    const response = await fetch(url() + target, init)
    const value = await readJson(response)
    expect([response.status, value.statusCode]).toEqual([status, status])
    expect(validate('/api/klines/1h/{symbol}/{startDate}.json', 'get', status, value)).toBe(VALID)
    expect(validate('/api/klines/1h/{symbol}/{startDate}.json', 'get', status, { ...value, more: 1 })).not.toBe(VALID)
  })
})

describe('responses match the greeting document', () => {
  const { url, validate } = useDescribedServer('/api/static/openapi.json')

  const update = (query: string, body: unknown, type = 'application/json') => ({
    target: `/api/users/${ID}${query}`,
    init: { method: 'POST', headers: { 'content-type': type }, body: JSON.stringify(body) },
  })

  it.each([
    [200, update('?notify=email', USER)],
    [400, update('', USER)],
    [400, update('?notify=email', { email: 'no', profile: { name: 1, age: 'x' } })],
    [415, update('?notify=email', USER, 'text/plain')],
  ])('user update: %i', async (status, { target, init }) => {
    const response = await fetch(url() + target, init)
    const value = await readJson(response)
    expect(response.status).toBe(status)
    expect(validate('/api/users/{id}', 'post', status, value)).toBe(VALID)
    expect(validate('/api/users/{id}', 'post', status === 200 ? 400 : 200, value)).not.toBe(VALID)
  })

  it.each(['application/jsonl', 'text/plain'])('every line of the token stream as %s', async type => {
    const response = await fetch(`${url()}/api/streams/tokens`, { headers: { accept: type } })
    expect(response.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
    const lines = (await response.text()).trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    for (const line of lines) expect(validate('/api/streams/tokens', 'get', 200, JSON.parse(line), type)).toBe(VALID)
  })
})
