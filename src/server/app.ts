import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Warn } from '../download/sources/window-source.js'
import { exportApi, greetingApi, klinesApi } from './apis.js'
import { registerMethods, serve, serveEndpoint } from './endpoint.js'
import type { GreetingSettings } from './greeting/routes.js'
import { serveHome } from './home/routes.js'
import { HttpError, plainError, sendError, toHttpError } from './http/error.js'
import { hardenedServer, refuseConnection } from './http/hardened-server.js'
import { HostCheck } from './http/host.js'
import { LIMITS, type Limits } from './http/limits.js'
import { serveAssets } from './pages/assets.js'
import { serveChart } from './pages/chart.js'
import type { Tree } from './tree/tree.js'

/** The parts and settings of the application. */
export interface AppOptions extends GreetingSettings {
  readonly tree: Tree
  /** The host that the server listens on: the one name besides those of the loopback that a request may carry. */
  readonly host: string
  /** Called with every internal error; the client only gets a plain 500. */
  readonly onError?: ((error: Error) => void) | undefined
  readonly limits?: Limits | undefined
  /** Receives warnings for the operator, such as that an export was cut. */
  readonly warn?: Warn | undefined
}

/** The application: the file tree, exports, the greeting API, their documents and page, and one format for every error. */
export function createApp({ tree, host, onError, limits = LIMITS, warn, ...greeting }: AppOptions): FastifyInstance {
  const check = requestCheck(new HostCheck(host), limits.urlBytes)
  const app = Fastify({
    serverFactory: listener => hardenedServer(listener, limits),
    clientErrorHandler: refuseConnection,
    bodyLimit: limits.bodyBytes,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: limits.urlBytes },
    // `checkFields` uses the schemas. Fastify would load compilers for them at once, which takes a tenth of a second.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // Fastify's own errors (a malformed %-escape) bypass the hooks and the error handler.
    frameworkErrors: (error, request, reply) => sendError(check(request.raw) ?? toHttpError(error), request, reply),
  })
  app.removeContentTypeParser('text/plain')
  guard(app, check)
  app.setErrorHandler((error: Error, request, reply) => {
    const httpError = toHttpError(error)
    if (httpError.statusCode === 500) onError?.(error)
    sendError(httpError, request, reply)
  })
  registerMethods(app)
  for (const { path, route = path, handler } of [...klinesApi(tree), ...exportApi(tree, limits, warn)])
    serve(app, { methods: ['GET', 'HEAD'], path: route, handler })
  for (const endpoint of greetingApi(greeting)) serveEndpoint(app, endpoint)
  serveHome(app, tree, limits, error => onError?.(error))
  serveChart(app)
  serveAssets(app)
  return app
}

function noSchemas(): never {
  throw new Error('Routes have no schemas: `checkFields` checks requests.')
}

type RequestCheck = (request: IncomingMessage) => HttpError | undefined

/** Checks the request line and Host of a request, whatever its path. */
function requestCheck(hosts: HostCheck, urlBytes: number): RequestCheck {
  return request => {
    const { url = '', method, httpVersionMajor } = request
    // Node reads any version from 0.9 to 2.0, each as if it were 1.1.
    if (httpVersionMajor !== 1) return plainError(505)
    const error = hosts.check(request)
    if (error) return error
    if (url.length > urlBytes) return plainError(414)
    // RFC 9112, 3.2: a target has no fragment, and the asterisk is for OPTIONS.
    const isTarget = !url.includes('#') && (!url.startsWith('*') || (url === '*' && method === 'OPTIONS'))
    return isTarget ? undefined : new HttpError(400, 'The request target is not valid.')
  }
}

/** Checks every request before a body is read. */
function guard(app: FastifyInstance, check: RequestCheck): void {
  app.addHook('onRequest', (request, _reply, done) => {
    done(check(request.raw) ?? (request.is404 ? notFound() : undefined))
  })
  app.setNotFoundHandler(() => {
    throw notFound()
  })
}

function notFound(): HttpError {
  return new HttpError(404, 'There is nothing at this path.')
}
