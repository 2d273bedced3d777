import { describe, expect, it } from 'vitest'
import { type Document, documentAt, EXPORT, GREETING, KLINES } from '../../support/documents.js'
import { ALL_INTERVALS } from '../../support/sample-tree.js'

/** Every operation as text: method, path, operationId, tags. */
function listOperations({ paths }: Document): string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Document).map(
      ([method, { operationId, tags }]: [string, Document]) => `${method} ${path} ${operationId} ${tags}`,
    ),
  )
}

describe('the klines document', () => {
  it('has the version, operations and tags of the service, for all intervals', async () => {
    const document = await documentAt(KLINES)
    expect([document.info.title, document.info.version]).toEqual(['klines API', '0.1.8'])
    expect(listOperations(document)).toEqual([
      'get /api/klines/symbols.json getSymbols meta',
      'get /api/klines/start-dates/{interval}.json getStartDates meta',
      ...ALL_INTERVALS.map(name => `get /api/klines/${name}/{symbol}/{startDate}.json getKlines${name} klines`),
      'get /api/openapi.json getSpec meta',
    ])
  })

  it('has a candle of exactly 12 elements, with the types of the service', async () => {
    const { Kline } = (await documentAt(KLINES)).components.schemas
    expect(Kline).toMatchObject({ type: 'array', items: false, minItems: 12, maxItems: 12 })
    const types = Kline.prefixItems.map(({ type }: Document) =>
      type === 'integer' ? 'i' : type === 'string' ? 's' : '?',
    )
    expect(types.join('')).toBe('isssssisisss')
    for (const element of Kline.prefixItems.filter(({ type }: Document) => type === 'integer')) {
      expect(element).toMatchObject({ minimum: -9007199254740991, maximum: 9007199254740991 })
    }
  })
})

describe('the export document', () => {
  const PATH = '/export/{interval}/{symbol}.{extension}'

  it('has its operations, statuses and media types', async () => {
    const document = await documentAt(EXPORT)
    expect(listOperations(document)).toEqual([
      'get /follow/{interval}/{symbol} followCandles export',
      `get ${PATH} exportCandles export`,
      'get /api/v3/ping ping exchange',
      'get /api/v3/time getTime exchange',
      'get /api/v3/klines getCandles exchange',
      'get /api/v3/exchangeInfo getExchangeInfo exchange',
      'get /api/v3/ticker/price getNames exchange',
      'get /export/openapi.json getSpec meta',
    ])
    const { responses } = document.paths[PATH].get
    const statuses = ['200', '400', '404', '409', '416', '502', '503', '504', 'default']
    expect(Object.keys(responses)).toEqual(statuses)
    expect(Object.keys(responses['200'].content)).toEqual([
      'text/csv',
      'application/json',
      'application/jsonl',
      'application/vnd.apache.parquet',
      'application/vnd.apache.arrow.file',
      'application/gzip',
    ])
  })

  it('has every parameter', async () => {
    const { paths, components } = await documentAt(EXPORT)
    const { parameters } = paths[PATH].get
    const text = 'from to last resample partial limit tail columns time-format numbers compression'
    const names = text.split(' ')
    expect(parameters.map(({ name }: Document) => name)).toEqual([...['interval', 'symbol', 'extension'], ...names])
    expect(parameters[2].schema.enum).toEqual('csv csv.gz json json.gz jsonl jsonl.gz parquet arrow'.split(' '))
    expect(components.schemas.Interval.enum).toEqual(ALL_INTERVALS)
  })
})

describe('the greeting document', () => {
  it('has the version, operations and tags of the service', async () => {
    const document = await documentAt(GREETING)
    expect([document.info.title, document.info.version]).toEqual(['"Hello World" app API', '1.0.0'])
    expect(listOperations(document)).toEqual([
      'post /api/users/{id} updateUser UserRPC',
      'get /api/streams/tokens streamTokens StreamRPC',
      'get /api/static/openapi.json getSpec OpenApiRPC',
    ])
  })
})
