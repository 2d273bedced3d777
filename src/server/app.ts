import { METHODS, type RequestListener } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { EXPORT_SPEC_PATH, GREETING_SPEC_PATH, KLINES_SPEC_PATH } from '../greeting/paths.js'
import { Body } from './body.js'
import { createHttpServer, LIMITS, type Limits } from './connections.js'
import { coverageRoutes } from './coverage.js'
import { HttpError, sendError, toHttpError } from './errors.js'
import { exportApi } from './export.js'
import { type GreetingSettings, greetingApi } from './greeting.js'
import { homePage } from './home.js'
import { type HostOptions, requestBaseUrl, requestCheck } from './hosts.js'
import { type Api, describeApi } from './openapi.js'
import { fileRoutes, pageRoute } from './pages.js'
import type { Route } from './route.js'
import { sendBody } from './send.js'
import type { Tree } from './tree.js'
import { treeApi } from './tree-api.js'

/** The parts and settings of the application. */
export interface AppOptions extends GreetingSettings, HostOptions {
  readonly tree: Tree
  /** Called with every internal error; the client only gets a plain 500. */
  readonly onError?: ((error: Error) => void) | undefined
  /** How long clients may take. */
  readonly limits?: Limits | undefined
  /** Receives warnings for the operator, such as that an export was cut. */
  readonly warn: (warning: string) => void
  /** Hears of each request before it is answered. */
  readonly onRequest?: RequestListener | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    isPrivate?: boolean | undefined
  }
}

/** Header fields of the response to a preflight: pages of other sites may read the public data, but not send POST. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
}

/** The application: the file tree, exports, the greeting API, their documents and pages, and one format for every error. */
export async function createApp({ tree, onError, limits = LIMITS, warn, onRequest, ...options }: AppOptions) {
  const apis = [treeApi(tree), exportApi(tree, warn), greetingApi(options)]
  const specs = [KLINES_SPEC_PATH, EXPORT_SPEC_PATH, GREETING_SPEC_PATH]
  const routes = [
    ...apis.flatMap((api, index) => [...api.routes, specRoute(specs[index], api)]),
    pageRoute('/', () => homePage(tree)),
    ...coverageRoutes(tree),
    ...fileRoutes(tree.mirror),
  ]
  const check = requestCheck(options)
  const { fastify } = await import('fastify')
  let finish = async () => {}
  const fail = (error: Error, request: FastifyRequest, reply: FastifyReply) => {
    const { raw } = reply
    reply.hijack()
    // Node's parser has rejected the rest of the request meanwhile, which got an error for that.
    if (raw.writableEnded) return
    const httpError = toHttpError(error)
    if (httpError.statusCode === 500) onError?.(error)
    const isPublic = !request.routeOptions.config?.isPrivate
    if (raw.headersSent) raw.destroy()
    else sendError(httpError, request.raw, raw, { isPublic, isLast: reply.getHeader('connection') === 'close' })
  }
  const app = fastify({
    serverFactory: listener => {
      const made = createHttpServer((request, response) => {
        onRequest?.(request, response)
        const refusal = check(request)
        if (refusal) sendError(refusal, request, response)
        else listener(request, response)
      }, limits)
      finish = made.finish
      return made.server
    },
    // `createHttpServer` has its own.
    clientErrorHandler: () => {},
    bodyLimit: limits.bodyBytes,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    // Longer than any target: the length of that is checked before.
    routerOptions: { maxParamLength: 8 * 1024 },
    frameworkErrors: (_error, request, reply) =>
      fail(new HttpError(400, 'The address has a % that begins no escape of UTF-8.'), request, reply),
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, app.getDefaultJsonParser('error', 'error'))
  app.setErrorHandler(fail)
  // Before a body is read, which nobody needs.
  app.addHook('onRequest', (request, _reply, done) => {
    done(request.is404 ? new HttpError(404, 'There is nothing at this path.') : undefined)
  })
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  for (const { method, url, isPrivate, handler } of routes) {
    const methods = method === 'GET' ? ['GET', 'HEAD'] : [method]
    app.route({ method: methods, url, handler, config: { isPrivate } })
    const allow = [...methods, 'OPTIONS'].join(', ')
    const answer = (request: FastifyRequest, reply: FastifyReply, done: (error: Error) => void) => {
      if (request.method !== 'OPTIONS') return done(new HttpError(405, `Only ${allow} here.`, { headers: { allow } }))
      return void reply
        .code(204)
        .headers({ ...(method === 'GET' && !isPrivate && PREFLIGHT_HEADERS), allow })
        .send()
    }
    const others = METHODS.filter(name => !methods.includes(name) && name !== 'CONNECT')
    app.route({ method: others, url, onRequest: answer, handler: () => {}, config: { isPrivate } })
  }
  /** Answers the requests that were received, and closes. */
  const close = async () => {
    const closed = app.close()
    await finish()
    await closed
  }
  return { app, close }
}

/** The route of the OpenAPI document of an API, for the base address that a request was sent to. */
function specRoute(path: string, api: Api): Route {
  let latest: { baseUrl: string; body: Body } | undefined
  return {
    method: 'GET',
    url: `/${path}`,
    handler: (request, reply) => {
      const baseUrl = requestBaseUrl(request.raw)
      // Most clients send the same Host again.
      if (latest?.baseUrl !== baseUrl) {
        latest = { baseUrl, body: new Body(Buffer.from(JSON.stringify(describeApi(api, path, baseUrl)))) }
      }
      return sendBody(request, reply, latest.body, { vary: 'accept-encoding, host' })
    },
  }
}
