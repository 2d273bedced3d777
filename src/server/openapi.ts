import type { TObject, TSchema } from 'typebox'
import { ErrorObjectSchema } from '../service/error-object.js'
import type { Endpoint } from './endpoint.js'

/** What an OpenAPI document says of the whole API. */
export interface ApiInfo {
  readonly title: string
  readonly version: string
  readonly description: string
}

/** An OpenAPI 3.1 document; only what we make, which a validator checks in the tests. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: ApiInfo & { readonly license: { readonly name: string; readonly identifier: string } }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Record<string, object>
  readonly components: { readonly schemas: Record<string, object> }
}

/**
 * The OpenAPI description of endpoints: the same schemas that check requests. A schema with an `$id` becomes a component of
 * that name wherever it occurs. The server is this one: its address is relative, and has no /api (observed.md).
 */
export function describeApi(info: ApiInfo, endpoints: readonly Endpoint[]): OpenApiDocument {
  const components = new Components()
  const paths: Record<string, object> = {}
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation(endpoint, components) }
  }
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map(name => ({ name })),
    paths,
    components: { schemas: components.schemas },
  }
}

function operation(endpoint: Endpoint, components: Components): object {
  const { operationId, summary, tag, params, query, body, answer } = endpoint
  const parameters = [...parametersOf('path', params), ...parametersOf('query', query)]
  return {
    operationId,
    summary,
    tags: [tag],
    ...(parameters.length > 0 && { parameters: components.named(parameters) }),
    ...(body && { requestBody: { required: true, content: contentOf({ 'application/json': body }, components) } }),
    responses: {
      200: { description: answer.description, content: contentOf(answer.content, components) },
      default: { description: 'Failed', content: contentOf({ 'application/json': ErrorObjectSchema }, components) },
    },
  }
}

function parametersOf(place: 'path' | 'query', schema: TObject | undefined): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = property as TSchema & { description?: string }
    return { name, in: place, required: schema?.required?.includes(name) ?? false, description, schema: rest }
  })
}

function contentOf(types: Readonly<Record<string, TSchema>>, components: Components): object {
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
