import type { TObject, TSchema } from 'typebox'
import { ErrorObjectSchema } from '../../http/error-object.js'
import type { Answer, Endpoint } from '../endpoint.js'

/** What an OpenAPI document says of the whole API. */
export interface ApiInfo {
  readonly title: string
  readonly version: string
  readonly description: string
  /** What the operations of a tag have in common. */
  readonly tags: Readonly<Record<string, string>>
}

/** An OpenAPI 3.1 document; only what we make, which a validator checks in the tests. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: Omit<ApiInfo, 'tags'> & { readonly license: { readonly name: string; readonly identifier: string } }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Record<string, object>
  readonly components: { readonly schemas: Record<string, object> } & typeof SHARED
}

/** Header fields that go with a body that may be kept. */
const HEADERS = {
  ETag: 'Names this version of the body',
  'Last-Modified': 'When the file was modified; a body without a file has none',
  'Cache-Control': 'immutable for a window that can change no more, no-cache for everything else',
}
const HEADER_REFS = Object.fromEntries(
  Object.keys(HEADERS).map(name => [name, { $ref: `#/components/headers/${name}` }]),
)

/** What operations refer to besides schemas. */
const SHARED = {
  headers: Object.fromEntries(
    Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  ),
  responses: { NotModified: { description: 'The client has this version already', headers: HEADER_REFS } },
}

/**
 * The OpenAPI description of endpoints: the same schemas that check requests. A schema with an `$id` becomes a component of
 * that name wherever it occurs. The server is this one: its address is relative, and has no /api (observed.md).
 */
export function describeApi({ tags, ...info }: ApiInfo, endpoints: readonly Endpoint[]): OpenApiDocument {
  const components = new Components()
  const paths: Record<string, object> = {}
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation(endpoint, components) }
  }
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: components.schemas, ...SHARED },
  }
}

function operation(endpoint: Endpoint, components: Components): object {
  const { operationId, summary, description, tag, params, query, body, answer, refusals = {} } = endpoint
  const parameters = [...describeParameters('path', params), ...describeParameters('query', query)]
  return {
    operationId,
    summary,
    ...(description && { description }),
    tags: [tag],
    ...(parameters.length > 0 && { parameters: components.named(parameters) }),
    ...(body && {
      requestBody: { required: true, content: describeContent({ 'application/json': body }, components) },
    }),
    responses: {
      ...answered(answer, components),
      ...Object.fromEntries(Object.entries(refusals).map(([status, why]) => [status, refused(why, components)])),
      default: refused('Any other failure', components),
    },
  }
}

function answered({ description, content, revalidates }: Answer, components: Components): object {
  return {
    200: { description, ...(revalidates && { headers: HEADER_REFS }), content: describeContent(content, components) },
    ...(revalidates && { 304: { $ref: '#/components/responses/NotModified' } }),
  }
}

function refused(description: string, components: Components): object {
  return { description, content: describeContent({ 'application/json': ErrorObjectSchema }, components) }
}

function describeParameters(place: 'path' | 'query', schema: TObject | undefined): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, examples, ...rest } = property as TSchema & { description?: string; examples?: unknown[] }
    const required = schema?.required?.includes(name) ?? false
    return { name, in: place, required, description, ...(examples && { example: examples[0] }), schema: rest }
  })
}

function describeContent(types: Readonly<Record<string, TSchema>>, components: Components): object {
  return Object.fromEntries(Object.entries(types).map(([type, schema]) => [type, { schema: components.named(schema) }]))
}

/** Collects the schemas that have a name. */
class Components {
  readonly schemas: Record<string, object> = {}

  /** `value` with every schema that has an `$id` replaced by a reference to a component. */
  named(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(item => this.named(item))
    if (typeof value !== 'object' || value === null) return value
    const { $id, ...rest } = value as { $id?: string }
    const plain = Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, this.named(item)]))
    if ($id === undefined) return plain
    this.schemas[$id] = plain
    return { $ref: `#/components/schemas/${$id}` }
  }
}
