import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Api, greetingApi, KLINES_SPEC_PATH, klinesApi } from './apis.js'
import { serveDocs } from './docs/routes.js'
import { knowAllMethods, serve, serveEndpoint } from './endpoint.js'
import { specEndpoint } from './greeting/routes.js'
import { HttpError, plainError } from './http/error.js'
import { sendError, toHttpError } from './http/error-handler.js'
import { hardenedServer, LIMITS, refuseConnection } from './http/hardened-server.js'
import { HostCheck } from './http/host-check.js'
import type { Tree } from './tree/tree.js'

/** What an application is made of. */
export interface AppOptions {
  readonly tree: Tree
  /** What the server listens on: the one name besides those of the loopback that it answers for. */
  readonly host: string
  /** Whether the greeting API takes only what the public instance takes. */
  readonly strict?: boolean | undefined
  /** Told what went wrong inside; a client is only told that something did. */
  readonly onError?: ((error: Error) => void) | undefined
  readonly limits?: typeof LIMITS | undefined
}

/** The application: the file tree, the greeting API, what describes them, and one form for every refusal. */
export function createApp({ tree, host, strict = false, onError, limits = LIMITS }: AppOptions): FastifyInstance {
  const check = requestCheck(new HostCheck(host), limits.urlBytes)
  const app = Fastify({
    serverFactory: listener => hardenedServer(listener, limits),
    clientErrorHandler: refuseConnection,
    bodyLimit: limits.bodyBytes,
    // Who is connected when the server is told to end is still answered.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: limits.urlBytes },
    ajv: { customOptions: { allErrors: true, coerceTypes: false, removeAdditional: false, useDefaults: false } },
    // What Fastify itself refuses (a malformed %-escape) comes neither to the hooks nor to the error handler.
    frameworkErrors: (error, request, reply) => sendError(check(request.raw) ?? toHttpError(error), request, reply),
  })
  app.removeContentTypeParser('text/plain')
  guard(app, check)
  app.setErrorHandler((error: Error, request, reply) => {
    const refusal = toHttpError(error)
    if (refusal.statusCode === 500) onError?.(error)
    sendError(refusal, request, reply)
  })
  knowAllMethods(app)
  serveApis(app, klinesApi(tree), greetingApi(strict))
  serveDocs(app, tree.mirror)
  return app
}

type RequestCheck = (request: IncomingMessage) => HttpError | undefined

/** What is wrong with a request whatever it asks for. */
function requestCheck(hosts: HostCheck, urlBytes: number): RequestCheck {
  return request => {
    const { url = '', method, httpVersionMajor } = request
    // Node reads any version from 0.9 to 2.0, each as if it were 1.1.
    if (httpVersionMajor !== 1) return plainError(505)
    const refusal = hosts.check(request)
    if (refusal) return refusal
    if (url.length > urlBytes) return plainError(414)
    // RFC 9112, 3.2: a target has no fragment, and the asterisk is for OPTIONS.
    const isTarget = !url.includes('#') && (!url.startsWith('*') || (url === '*' && method === 'OPTIONS'))
    return isTarget ? undefined : new HttpError(400, 'The address is not one that can be asked for.')
  }
}

/** Looks at every request before a body is read. */
function guard(app: FastifyInstance, check: RequestCheck): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const refusal = check(request.raw) ?? (request.is404 ? notFound() : undefined)
    done(refusal)
  })
  app.setNotFoundHandler(() => {
    throw notFound()
  })
}

function serveApis(app: FastifyInstance, klines: Api, greeting: Api): void {
  for (const { path, handler } of klines.endpoints) serve(app, { methods: ['GET', 'HEAD'], path, handler })
  for (const endpoint of greeting.endpoints) serveEndpoint(app, endpoint)
  serveEndpoint(app, specEndpoint(KLINES_SPEC_PATH, 'getKlinesSpec', 'meta', klines.document))
}

function notFound(): HttpError {
  return new HttpError(404, 'There is nothing at this path.')
}
