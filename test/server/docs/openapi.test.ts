import { describe, expect, it } from 'vitest'
import { type Document, documentAt, EXPORT, GREETING, KLINES } from '../../support/documents.js'

describe.each([KLINES, GREETING, EXPORT])('%s', path => {
  it('is of OpenAPI 3.1', async () => {
    expect((await documentAt(path)).openapi).toBe('3.1.0')
  })

  it('names a license, an absolute server address without /api, and itself', async () => {
    const { info, servers, paths } = await documentAt(path)
    expect(info.license).toEqual({ name: 'MIT', identifier: 'MIT' })
    expect(servers).toEqual([{ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) }])
    expect(paths).toHaveProperty([path, 'get', 'operationId'], 'getSpec')
  })

  it('describes every tag, parameter and response, and every reference resolves', async () => {
    const { tags, paths, components } = await documentAt(path)
    const used = new Set<string>()
    for (const operation of Object.values(paths).flatMap(methods => Object.values(methods as Document))) {
      const { summary, parameters = [], responses, tags: names } = operation as Document
      expect(summary).toMatch(/\w/)
      for (const parameter of parameters) {
        expect(parameter.description).toMatch(/\w/)
        // Only the query of an export, and of the exchange's own paths, can be left out.
        if (!names.includes('exchange')) expect(parameter.required).toBe(path !== EXPORT || parameter.in === 'path')
      }
      for (const name of names) used.add(name)
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', 'default']))
    }
    expect(tags.map(({ name }: Document) => name)).toEqual([...used])
    for (const { description } of tags) expect(description).toMatch(/\w/)
    for (const [, kind, name] of JSON.stringify(paths).matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)) {
      expect(components[kind]?.[name], name).toBeDefined()
    }
  })

  it('has the error object of the service for every error', async () => {
    const { paths, components } = await documentAt(path)
    const { required, properties, additionalProperties, type } = components.schemas.ErrorObject
    expect({ type, required, additionalProperties, names: Object.keys(properties) }).toEqual({
      type: 'object',
      required: ['statusCode', 'message', 'isError'],
      additionalProperties: false,
      names: ['statusCode', 'message', 'isError', 'cause'],
    })
    expect(properties.statusCode).toMatchObject({ type: 'integer', enum: STATUSES })
    expect(properties.message.type).toBe('string')
    expect(properties.isError).toMatchObject({ type: 'boolean', const: true })
    // Any JSON value: the schema has only a description.
    expect(Object.keys(properties.cause)).toEqual(['description'])
    for (const [path, methods] of Object.entries(paths)) {
      const name = path.startsWith('/api/v3/') ? 'ExchangeError' : 'ErrorObject'
      const operations = Object.values(methods as Document) as Document[]
      for (const [status, response] of operations.flatMap(({ responses }) => Object.entries(responses))) {
        if (Number(status) < 400) continue
        const { schema } = (response as Document).content['application/json']
        expect(schema).toEqual({ $ref: `#/components/schemas/${name}` })
      }
    }
  })
})

/** The statuses of the error object in the service's OpenAPI description. */
const STATUSES = [
  100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404,
  405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 424, 428, 429, 500, 501, 502, 503,
  504, 505,
]
