import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { HttpError } from './http/error.js'
import { checkFields } from './http/error-handler.js'

/** What 200 says, and what it carries by media type. */
export interface Answer {
  readonly description: string
  readonly content: Readonly<Record<string, TSchema>>
  /** Whether it has validators, so that 304 may come in its place. */
  readonly revalidates?: boolean
}

/** What exists at a path: how it is served, and how OpenAPI describes it. */
export interface Endpoint {
  readonly method: 'GET' | 'POST'
  /** As OpenAPI has it: `/api/users/{id}`. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  /** More, for who reads on. */
  readonly description?: string
  readonly tag: string
  readonly params?: TObject
  readonly query?: TObject
  /** What a JSON body has to be. */
  readonly body?: TSchema
  readonly answer: Answer
  /** Why it is refused, by the status; only what a client may want to tell apart. */
  readonly refusals?: Readonly<Record<number, string>>
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => unknown
}

/** Pages of other sites may read what is public here (the Fetch standard's CORS protocol); POST is not for them. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
}

/** Every method that Node's parser knows, but for CONNECT, which has no path. */
const ALL_METHODS = METHODS.filter(method => method !== 'CONNECT') as HTTPMethods[]

/** Makes Fastify know every method, so that a wrong one is 405 and not 404. */
export function knowAllMethods(app: FastifyInstance): void {
  for (const method of ALL_METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
}

/** Serves an endpoint, its parameters and body checked by their schemas. */
export function serveEndpoint(app: FastifyInstance, { method, path, params, query, body, handler }: Endpoint): void {
  const schema = { ...(params && { params }), ...(query && { querystring: query }), ...(body && { body }) }
  const methods: HTTPMethods[] = method === 'GET' ? ['GET', 'HEAD'] : [method]
  serve(app, { methods, path, handler, route: { schema, attachValidation: true, preHandler: checkFields } })
}

/**
 * Serves `path` (with `{name}` for a parameter): the methods it has, OPTIONS, and 405 with Allow for any other before a
 * body is read.
 */
export function serve(
  app: FastifyInstance,
  {
    methods,
    path,
    handler,
    route = {},
  }: { methods: HTTPMethods[]; route?: object } & Pick<Endpoint, 'path' | 'handler'>,
): void {
  const url = path.replace(/\{(\w+)\}/g, ':$1')
  const allow = [...methods, 'OPTIONS'].join(', ')
  app.route({ ...route, method: methods, url, handler })
  app.route({
    method: ALL_METHODS.filter(other => !methods.includes(other)),
    url,
    onRequest: async (request, reply) => {
      if (request.method !== 'OPTIONS') throw new HttpError(405, `Only ${allow} here.`, { headers: { allow } })
      if (methods.includes('GET')) reply.headers(CORS)
      return reply.code(204).header('allow', allow).send()
    },
    handler: (_, reply) => reply.send(),
  })
}
