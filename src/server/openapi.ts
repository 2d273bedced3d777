import Type, { type TObject, type TSchema } from 'typebox'
import type { OpenApiDocument } from '../greeting/client.js'
import type { Route } from './app.js'
import { ErrorObjectSchema } from './errors.js'

/** The successful (200) response of an operation. */
interface OperationResponse {
  readonly description: string
  /** Schema of the body by media type. */
  readonly content: Readonly<Record<string, TSchema>>
  /** Whether it carries validators, so that a conditional request may get 304. */
  readonly revalidates?: boolean
}

/** An operation at a path, as OpenAPI describes it. */
export interface Operation {
  readonly method: 'get' | 'post'
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tag: string
  readonly params?: TObject
  readonly query?: TObject
  /** Schema of the JSON body. */
  readonly body?: TSchema
  readonly response: OperationResponse
  /** Descriptions of the error statuses that a client may want to tell apart. */
  readonly errors?: Readonly<Record<number, string>>
}

/** An API: what serves it, and what its OpenAPI document says. */
export interface Api {
  readonly routes: readonly Route[]
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  /** Descriptions by tag. */
  readonly tags: Readonly<Record<string, string>>
  /** That of the document itself. */
  readonly specTag: string
  /** Called for each document. */
  readonly operations: () => readonly Operation[]
}

/** Header fields of a cacheable body, with their descriptions. */
const HEADERS = {
  ETag: 'Names this version of the body',
  'Last-Modified': 'When the file was modified; a body without a file has none',
  'Cache-Control': 'immutable for a window that can change no more, no-cache for everything else',
}
const HEADER_REFS = Object.fromEntries(
  Object.keys(HEADERS).map(name => [name, { $ref: `#/components/headers/${name}` }]),
)

/** Components besides schemas that operations refer to. */
const SHARED = {
  headers: Object.fromEntries(
    Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  ),
  responses: { NotModified: { description: 'The client has this version already', headers: HEADER_REFS } },
}

/**
 * The OpenAPI 3.1 document of an API, which is at `specPath`, built from the schemas that validate requests. A schema with an `$id` becomes
 * a component of that name wherever it occurs. `baseUrl` is the address of the server: absolute, without /api (which is part of the paths)
 * and without a slash at its end, so that clients can append a path to it.
 */
export function describeApi(
  { info, tags, specTag, operations }: Api,
  specPath: string,
  baseUrl: string,
): OpenApiDocument {
  const components = new Components()
  const spec: Operation = {
    method: 'get',
    path: `/${specPath}`,
    operationId: 'getSpec',
    summary: 'The OpenAPI description of this API',
    tag: specTag,
    response: { description: 'OpenAPI 3.1', content: { 'application/json': Type.Object({}) }, revalidates: true },
  }
  const all = [...operations(), spec]
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: baseUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(all.map(one => [one.path, { [one.method]: describeOperation(one, components) }])),
    components: { schemas: components.schemas, ...SHARED },
  }
}

function describeOperation(operation: Operation, components: Components): object {
  const { operationId, summary, description, tag, params, query, body, response, errors = {} } = operation
  const parameters = [...describeParameters('path', params), ...describeParameters('query', query)]
  return {
    operationId,
    summary,
    ...(description && { description }),
    tags: [tag],
    ...(parameters.length > 0 && { parameters: components.extract(parameters) }),
    ...(body && {
      requestBody: { required: true, content: describeContent({ 'application/json': body }, components) },
    }),
    responses: {
      ...describeSuccess(response, components),
      ...Object.fromEntries(Object.entries(errors).map(([status, text]) => [status, describeError(text, components)])),
      default: describeError('Any other failure', components),
    },
  }
}

function describeSuccess({ description, content, revalidates }: OperationResponse, components: Components): object {
  return {
    200: { description, ...(revalidates && { headers: HEADER_REFS }), content: describeContent(content, components) },
    ...(revalidates && { 304: { $ref: '#/components/responses/NotModified' } }),
  }
}

function describeError(description: string, components: Components): object {
  return { description, content: describeContent({ 'application/json': ErrorObjectSchema }, components) }
}

function describeParameters(location: 'path' | 'query', schema: TObject | undefined): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, examples, ...rest } = property as TSchema & { description?: string; examples?: unknown[] }
    const required = schema?.required?.includes(name) ?? false
    return { name, in: location, required, description, ...(examples && { example: examples[0] }), schema: rest }
  })
}

function describeContent(types: Readonly<Record<string, TSchema>>, components: Components): object {
  return Object.fromEntries(
    Object.entries(types).map(([type, schema]) => [type, { schema: components.extract(schema) }]),
  )
}

/** Collects the named schemas. */
class Components {
  readonly schemas: Record<string, object> = {}

  /** Returns `value` with every schema that has an `$id` replaced by a reference to its component. */
  extract(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(item => this.extract(item))
    if (typeof value !== 'object' || value === null) return value
    const { $id, ...rest } = value as { $id?: string }
    const plain = Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, this.extract(item)]))
    if ($id === undefined) return plain
    this.schemas[$id] = plain
    return { $ref: `#/components/schemas/${$id}` }
  }
}
