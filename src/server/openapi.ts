import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type TObject, type TSchema } from 'typebox'
import type { OpenApiDocument } from '../greeting/client.js'
import { Body, sendBody } from './body.js'
import { ErrorObjectSchema } from './errors.js'
import { requestBaseUrl } from './hosts.js'

/** A path and what answers its requests. */
export interface Route {
  /** A route of GET answers HEAD too. */
  readonly method: 'GET' | 'POST'
  /** As Fastify has it: `/api/users/:id`. */
  readonly url: string
  /** Whether pages of other sites may not read its responses. */
  readonly isPrivate?: boolean | undefined
  /** Sends the response. What it throws is sent as an error, and ends the connection once the head was sent. */
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => void | Promise<void>
}

/** An operation at a path, as OpenAPI describes it; `body` is the schema of its JSON body. */
export interface Operation {
  readonly method: 'get' | 'post'
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tag: string
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TSchema
  /** The successful response (200): schemas of its body by media type. */
  readonly response: { readonly description: string; readonly content: Readonly<Record<string, TSchema>> }
  /** Descriptions of the error statuses that a client may want to tell apart. */
  readonly errors?: Readonly<Record<number, string>>
}

/** An API: what serves it, and what its OpenAPI document says. */
export interface Api {
  readonly routes: readonly Route[]
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  /** Descriptions by tag. */
  readonly tags: Readonly<Record<string, string>>
  /** The document itself: its path, and its tag. */
  readonly spec: { readonly path: string; readonly tag: string }
  /** Called for each document. */
  readonly operations: () => readonly Operation[]
}

/** The route of the OpenAPI document of an API, for the base address that a request was sent to. */
export function specRoute(api: Api): Route {
  return {
    method: 'GET',
    url: `/${api.spec.path}`,
    handler: (request, reply) => {
      const body = new Body(Buffer.from(JSON.stringify(describeApi(api, requestBaseUrl(request.raw)))))
      return sendBody(request, reply, body, { vary: 'accept-encoding, host' })
    },
  }
}

/**
 * The OpenAPI 3.1 document of an API, built from the schemas that validate requests. A schema with an `$id` becomes a component of that
 * name. `baseUrl`: the address of the server, without /api (which is part of the paths) and without a slash at its end.
 */
function describeApi({ info, tags, spec, operations }: Api, baseUrl: string): OpenApiDocument {
  const schemas: Record<string, unknown> = {}
  const getSpec: Operation = {
    method: 'get',
    path: `/${spec.path}`,
    operationId: 'getSpec',
    summary: 'The OpenAPI description of this API',
    tag: spec.tag,
    response: { description: 'OpenAPI 3.1', content: { 'application/json': Type.Object({}) } },
  }
  const all = [...operations(), getSpec]
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: baseUrl }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(all.map(one => [one.path, { [one.method]: extract(describe(one), schemas) }])),
    components: { schemas },
  }
}

function describe({ method: _method, path: _path, tag, params, query, body, response, errors, ...rest }: Operation) {
  const bodies = (schemas: Readonly<Record<string, TSchema>>) =>
    Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }]))
  const failures = Object.entries({ ...errors, default: 'Any other failure' }).map(([status, description]) => [
    status,
    { description, content: bodies({ 'application/json': ErrorObjectSchema }) },
  ])
  return {
    ...rest,
    tags: [tag],
    parameters: [...describeParameters('path', params), ...describeParameters('query', query)],
    ...(body && { requestBody: { required: true, content: bodies({ 'application/json': body }) } }),
    responses: {
      200: { description: response.description, content: bodies(response.content) },
      ...Object.fromEntries(failures),
    },
  }
}

function describeParameters(location: 'path' | 'query', schema: TObject | undefined): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, examples, ...rest } = property as TSchema & { description?: string; examples?: unknown[] }
    const required = schema?.required?.includes(name) ?? false
    return { name, in: location, required, description, ...(examples && { example: examples[0] }), schema: rest }
  })
}

/** A value with every schema that has an `$id` replaced by a reference to its component, which goes to `schemas`. */
function extract(value: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map(item => extract(item, schemas))
  if (typeof value !== 'object' || value === null) return value
  const { $id, ...rest } = value as { $id?: string }
  const plain = Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, extract(item, schemas)]))
  if ($id === undefined) return plain
  schemas[$id] = plain
  return { $ref: `#/components/schemas/${$id}` }
}
