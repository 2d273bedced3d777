import { COLUMN_KINDS, COLUMNS, type ColumnKind } from '../candles/columns.js'
import { type Interval, isMinutes } from '../candles/intervals.js'
import { intervalSegment, SYMBOLS_PATH } from '../candles/paths.js'
import { windowLength } from '../candles/windows.js'
import { API_SPECS, type ApiName, TOKENS_PATH } from '../greeting/client.js'
import { TokenSchema, UserUpdateRequest, UserUpdateResultSchema } from '../greeting/schemas.js'
import { knownDates } from '../mirror/status.js'
import { CANDLE_OPTIONS, FORMATS, isBinary, type Option } from '../options.js'
import { servedMarket } from './exchange-paths.js'
import { GZIP_TYPE, MEDIA, QUERY } from './export.js'
import type { Tree } from './tree.js'

/** A JSON Schema. One with an `$id` becomes a component of that name. */
type Schema = object
type Content = Readonly<Record<string, { readonly schema: Schema }>>
interface Parameters {
  readonly properties: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

/** A method of a path, as OpenAPI has it but for these. `errors`: those that a client may want to tell apart, by status. */
interface Operation {
  readonly method?: 'post'
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly params?: Parameters
  readonly query?: Parameters | undefined
  readonly body?: Schema
  readonly response: { readonly description: string; readonly content: Content }
  readonly errors?: Readonly<Record<number, string>>
}

/** `tags`: descriptions by name; `specTag`: that of the document itself; `operations`: by path. */
interface Api {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: Readonly<Record<string, string>>
  readonly specTag: string
  readonly operations: Readonly<Record<string, Operation>>
}

const APIS = { klines: describeKlines, export: describeExport, greeting: describeGreeting }

export function describeApi(name: ApiName, tree: Tree, baseUrl: string, intervals = tree.mirror.intervals) {
  const { info, tags, specTag, operations } = APIS[name](tree, intervals)
  const schemas: Record<string, unknown> = {}
  const getSpec: Operation = {
    operationId: 'getSpec',
    tag: specTag,
    summary: 'The OpenAPI description of this API',
    response: { description: 'OpenAPI 3.1', content: json({ type: 'object', properties: {} }) },
  }
  const paths = Object.entries({ ...operations, [`/${API_SPECS[name]}`]: getSpec })
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: baseUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(
      paths.map(([path, { method = 'get', ...one }]) => [path, { [method]: extract(describe(one), schemas) }]),
    ),
    components: { schemas },
  }
}

function describe({ tag, params, query, body, response, errors, ...rest }: Operation) {
  const failures = Object.entries({ ...errors, default: 'Any other failure' })
  const content = json(tag === EXCHANGE_TAG ? EXCHANGE_ERROR : ERROR_OBJECT)
  return {
    ...rest,
    tags: [tag],
    parameters: [...describeParameters('path', params), ...describeParameters('query', query)],
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: {
      200: response,
      ...Object.fromEntries(failures.map(([status, description]) => [status, { description, content }])),
    },
  }
}

function json(schema: Schema): Content {
  return { 'application/json': { schema } }
}

function describeParameters(place: 'path' | 'query', { properties, required = [] }: Parameters = { properties: {} }) {
  return Object.entries(properties).map(([name, property]) => {
    const { description, examples, ...schema } = property as { description?: string; examples?: unknown[] }
    const example = examples && { example: examples[0] }
    return { name, in: place, required: place === 'path' || required.includes(name), description, ...example, schema }
  })
}

/** A value with a reference in place of every schema that has an `$id`, which goes to `schemas`. */
function extract(value: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map(item => extract(item, schemas))
  if (typeof value !== 'object' || value === null) return value
  const { $id, ...rest } = value as { $id?: string }
  const plain = Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, extract(item, schemas)]))
  if ($id === undefined) return plain
  schemas[$id] = plain
  return { $ref: `#/components/schemas/${$id}` }
}

const ERROR_OBJECT = {
  $id: 'ErrorObject',
  description: 'What every failed request is answered with',
  type: 'object',
  required: ['statusCode', 'message', 'isError'],
  properties: {
    // Those that the description of the public service lists.
    statusCode: {
      enum: [
        ...[100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308],
        ...[400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418],
        ...[421, 422, 424, 428, 429, 500, 501, 502, 503, 504, 505],
      ],
      type: 'integer',
      description: 'HTTP status code',
    },
    message: { type: 'string', description: 'Error message' },
    isError: { type: 'boolean', const: true, description: 'Always true' },
    cause: { description: 'Error cause of any shape' },
  },
  additionalProperties: false,
}

const EXCHANGE_TAG = 'exchange'
const EXCHANGE_ERROR = {
  $id: 'ExchangeError',
  description: 'What every failed request of the paths of the exchange is answered with',
  type: 'object',
  properties: { code: { type: 'integer' }, msg: { type: 'string' } },
}

function describeExchange(tree: Tree, symbol: Schema): Readonly<Record<string, Operation>> {
  const { api, candles, symbol: parameter, mostRows } = servedMarket(tree)
  const interval = { type: 'string', enum: tree.mirror.intervals, description: 'Length of a candle' }
  const time = { type: 'integer', description: 'The first or the last open time, ms UTC' }
  const limit = { type: 'integer', default: 500, description: `The most candles, ${mostRows} at most` }
  const properties = { [parameter]: symbol, interval, startTime: time, endTime: time, limit }
  const operation = (operationId: string, summary: string, query?: Parameters): Operation => {
    const response = { description: 'As the exchange answers', content: json({}) }
    return { operationId, tag: EXCHANGE_TAG, summary, query, response }
  }
  const symbols = { type: 'string', description: 'Several, such as ["BTCUSDT","ETHUSDT"]' }
  return {
    [`/${api}/ping`]: operation('ping', 'Whether this server answers'),
    [`/${api}/time`]: operation('getTime', 'The clock of this server'),
    [`/${api}/${candles}`]: operation('getCandles', 'Closed candles', {
      properties,
      required: [parameter, 'interval'],
    }),
    [`/${api}/exchangeInfo`]: operation('getExchangeInfo', 'The symbols and their assets', {
      properties: { symbol, symbols },
    }),
    [`/${api}/ticker/price`]: operation('getNames', 'The names of the symbols, without prices'),
  }
}

function describeKlines(tree: Tree, intervals: readonly Interval[]): Api {
  const { mirror, now } = tree
  const symbol = symbolSchema(tree)
  const ofInterval = (interval: Interval): [string, Operation] => {
    const segment = intervalSegment(interval)
    const startDate = startDateSchema(interval, knownDates(mirror, interval, now()))
    const operation: Operation = {
      operationId: `getKlines${segment}`,
      tag: 'klines',
      summary: `The ${interval} candles of a window, ascending by open time`,
      description:
        `A window covers ${windowLength(interval)}. A candle belongs to the window in which it opens; only closed ones ` +
        'are served. Before the listing of a symbol, and in the future, a window is empty.',
      params: { properties: { symbol, startDate } },
      response: { description: 'Candles', content: json({ type: 'array', items: KLINE }) },
      errors: { 404: 'There is no such symbol or window, or this server does not have it' },
    }
    return [`/api/klines/${segment}/{symbol}/{startDate}.json`, operation]
  }
  return {
    info: {
      title: 'klines API',
      version: '0.1.8',
      description:
        'Historical spot candles as static JSON files, one a calendar window. All times are UTC. HEAD, conditional requests, ' +
        'one byte range, gzip and br are answered everywhere.',
    },
    tags: {
      meta: 'What there is: symbols, start dates and this description',
      klines: 'Candles, one file a window',
    },
    specTag: 'meta',
    operations: {
      [`/${SYMBOLS_PATH}`]: {
        operationId: 'getSymbols',
        tag: 'meta',
        summary: 'The trading pairs, in their fixed order',
        response: { description: 'Symbols', content: json({ type: 'array', items: symbol }) },
      },
      '/api/klines/start-dates/{interval}.json': {
        operationId: 'getStartDates',
        tag: 'meta',
        summary: 'The start dates of all windows of an interval, ascending, also of the future',
        params: { properties: { interval: intervalSchema(intervals.map(intervalSegment)) } },
        response: {
          description: 'Start dates',
          content: json({ type: 'array', items: { type: 'string', format: 'date' } }),
        },
        errors: { 404: 'There is no such interval' },
      },
      ...Object.fromEntries(intervals.map(ofInterval)),
    },
  }
}

/** One of the symbols that the server lists; of the exchange any name, because the mirror may get any other. */
function symbolSchema(tree: Tree): Schema {
  const details = { $id: 'Symbol', description: 'Trading pair', type: 'string' }
  const symbols = tree.symbols()
  if (tree.mirror.rules.kind !== 'exchange' && symbols.length > 0) return { ...details, enum: symbols }
  // Of ASCII only A-Z and 0-9, and the day of a delivery. Not every reader of a schema knows `\p{L}`, for letters of any script.
  return { ...details, pattern: '^[^\\x00-/:-@\\[-\\x7f]{2,40}(_\\d{6})?$', examples: ['BTCUSDT'] }
}

/** `names`: as people write intervals, or as paths have them. */
function intervalSchema(names: readonly string[]): Schema {
  return { $id: 'Interval', type: 'string', enum: names, description: 'Length of a candle; 1M is a calendar month' }
}

/** Any day for 1m, 3m and 5m. */
function startDateSchema(interval: Interval, startDates: readonly string[]): Schema {
  const description = `First day of a ${interval} window, UTC`
  const details = { $id: `StartDate${intervalSegment(interval)}`, type: 'string', format: 'date', description }
  return isMinutes(interval) ? details : { ...details, enum: startDates }
}

const INTEGER = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
const ELEMENTS: Record<ColumnKind, Schema> = {
  time: { ...INTEGER, description: 'ms since the epoch, UTC' },
  count: { ...INTEGER, description: 'Number of trades' },
  decimal: { type: 'string', pattern: '^\\d+(\\.\\d+)?$' },
  text: { type: 'string', description: 'Unused' },
}
/** A tuple as in JSON Schema 2020-12, which OpenAPI 3.1 uses. */
const KLINE = {
  $id: 'Kline',
  description: 'A candle, as the exchange lays it out',
  type: 'array',
  prefixItems: COLUMNS.map((title, index) => ({ title, ...ELEMENTS[COLUMN_KINDS[index]] })),
  items: false,
  minItems: COLUMNS.length,
  maxItems: COLUMNS.length,
}

function describeExport(tree: Tree): Api {
  const extensions = FORMATS.flatMap(format => (isBinary(format) ? [format] : [format, `${format}.gz`]))
  const properties = {
    interval: intervalSchema(tree.mirror.intervals),
    symbol: symbolSchema(tree),
    extension: { type: 'string', enum: extensions, description: 'Format of the file', examples: ['csv'] },
  }
  return {
    info: {
      title: 'klines export API',
      version: '1.0.0',
      description:
        'The candles of a series as one file: CSV, JSON, JSON Lines, Parquet or Arrow, with the range, columns ' +
        'and interval that the query names. All times are UTC.',
    },
    tags: { export: 'Files and events', [EXCHANGE_TAG]: 'Paths of the exchange', meta: 'This description' },
    specTag: 'meta',
    operations: {
      '/follow/{interval}/{symbol}': {
        operationId: 'followCandles',
        tag: 'export',
        summary: 'Each candle as it closes, as server-sent events',
        description: 'Last-Event-ID, or from, says behind which open time to begin; else with the next candle.',
        params: { properties: { interval: properties.interval, symbol: properties.symbol } },
        query: { properties: { from: optionSchema(CANDLE_OPTIONS.from) } },
        response: {
          description: 'Events: candle, or restated with new values',
          content: { 'text/event-stream': { schema: { type: 'string' } } },
        },
        errors: { 404: 'This server has no such series', 503: 'The service limits requests: see Retry-After' },
      },
      '/export/{interval}/{symbol}.{extension}': {
        operationId: 'exportCandles',
        tag: 'export',
        summary: 'The candles of a series as one file',
        description:
          'The bytes that klines export writes, made as a file before the first byte is sent: HEAD, conditional requests and one byte ' +
          'range are answered. A Warning header says what the series lacks at an end of the range that was named.',
        params: { properties },
        query: { properties: Object.fromEntries(QUERY.map(({ flag, option }) => [flag, optionSchema(option)])) },
        response: {
          description: 'The file, as an attachment',
          content: Object.fromEntries(
            [...Object.values(MEDIA), GZIP_TYPE].map(type => [type.split(';')[0], { schema: {} }]),
          ),
        },
        errors: {
          400: 'A parameter of the query is unknown, repeated or invalid',
          404: 'There is no such symbol, interval or extension, or no candle in the range',
          409: 'A window of the range is missing or corrupt: cause names each. Or a decimal does not fit numbers=decimal',
          416: 'The range lies behind the end of the file',
          502: 'The service behind this server failed: cause names the windows',
          503: 'Too many exports are being made, or the service behind this server limits requests: see Retry-After',
          504: 'The service behind this server did not answer in time: cause names the windows',
        },
      },
      ...describeExchange(tree, properties.symbol),
    },
  }
}

function optionSchema({ takes, values, summary: description }: Option): Schema {
  const types = { choice: 'string', names: 'string', text: 'string', number: 'integer', switch: 'boolean' }
  const choice = takes === 'choice' && { enum: values }
  return { type: types[takes], ...choice, description }
}

function describeGreeting(): Api {
  return {
    // The title of the public instance.
    info: {
      title: '"Hello World" app API',
      version: '1.0.0',
      description: 'Update a user, stream tokens, and this description.',
    },
    tags: { UserRPC: 'Users', StreamRPC: 'Streams', OpenApiRPC: 'This description' },
    specTag: 'OpenApiRPC',
    operations: {
      '/api/users/{id}': {
        method: 'post',
        operationId: 'updateUser',
        tag: 'UserRPC',
        summary: 'Update a user, and hear the notification type back',
        description: 'Nothing is stored.',
        ...UserUpdateRequest.properties,
        response: { description: 'Updated', content: json(UserUpdateResultSchema) },
        errors: {
          400: 'A field is missing or wrong: cause lists them all',
          413: 'The body is too large',
          415: 'The body is not application/json',
        },
      },
      [`/${TOKENS_PATH}`]: {
        operationId: 'streamTokens',
        tag: 'StreamRPC',
        summary: 'A text, word by word, as JSON Lines',
        description:
          'One object a line, as it comes. The type is application/jsonl where Accept names it, else text/plain.',
        response: {
          description: 'One object a line',
          content: { 'application/jsonl': { schema: TokenSchema }, 'text/plain': { schema: TokenSchema } },
        },
      },
    },
  }
}
