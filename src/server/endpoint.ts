import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { PREFLIGHT_HEADERS } from './http/cors.js'
import { HttpError, type RouteConfig } from './http/error.js'
import { checkFields } from './http/fields.js'

/** The successful (200) response of an endpoint. */
export interface EndpointResponse {
  readonly description: string
  /** Schema of the body by media type. */
  readonly content: Readonly<Record<string, TSchema>>
  /** Whether it carries validators, so that a conditional request may get 304. */
  readonly revalidates?: boolean
}

/** An operation at a path: how it is served, and how OpenAPI describes it. */
export interface Endpoint {
  readonly method: 'GET' | 'POST'
  /** In OpenAPI's notation: `/api/users/{id}`. */
  readonly path: string
  /** The path as the router gets it, where that cannot have two parameters of `path` in one segment. */
  readonly route?: string
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tag: string
  readonly params?: TObject
  readonly query?: TObject
  /** Schema of the JSON body. */
  readonly body?: TSchema
  readonly response: EndpointResponse
  /** Descriptions of the error statuses that a client may want to tell apart. */
  readonly errors?: Readonly<Record<number, string>>
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => unknown
  /** Whether OpenAPI describes it; default: yes. */
  readonly isDescribed?: boolean
}

/** Every method of Node's parser except CONNECT, which has no path. */
const ALL_METHODS = METHODS.filter(method => method !== 'CONNECT') as HTTPMethods[]

/** Registers every method with Fastify, so that a wrong method gets 405 and not 404. */
export function registerMethods(app: FastifyInstance): void {
  for (const method of ALL_METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
}

/** Serves an endpoint and validates its parameters and body against their schemas. */
export function serveEndpoint(app: FastifyInstance, { method, path, params, query, body, handler }: Endpoint): void {
  const methods: HTTPMethods[] = method === 'GET' ? ['GET', 'HEAD'] : [method]
  const preHandler = params || query || body ? checkFields({ params, query, body }) : undefined
  serve(app, { methods, path, handler, route: { ...(preHandler && { preHandler }) } })
}

/** A path (with `{name}` for a parameter), its methods and handler, and further options of Fastify's route. */
interface Route extends Pick<Endpoint, 'path' | 'handler'>, RouteConfig {
  readonly methods: HTTPMethods[]
  readonly route?: object
}

/** Serves the methods of a path, OPTIONS, and 405 with Allow for any other method, before a body is read. */
export function serve(app: FastifyInstance, { methods, path, handler, isPrivate, route = {} }: Route): void {
  const url = path.replace(/\{(\w+)\}/g, ':$1')
  const allow = [...methods, 'OPTIONS'].join(', ')
  const config: RouteConfig = { isPrivate }
  app.route({ ...route, method: methods, url, handler, config })
  app.route({
    config,
    method: ALL_METHODS.filter(other => !methods.includes(other)),
    url,
    onRequest: async (request, reply) => {
      if (request.method !== 'OPTIONS') throw new HttpError(405, `Only ${allow} here.`, { headers: { allow } })
      if (methods.includes('GET') && !isPrivate) reply.headers(PREFLIGHT_HEADERS)
      return reply.code(204).header('allow', allow).send()
    },
    handler: (_, reply) => reply.send(),
  })
}
